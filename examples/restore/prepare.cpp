#include "prepare.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "damage.h"
#include "picture_file.h"

namespace restore {
namespace {

std::string size_of(const Image& image) {
  return std::to_string(image.width) + " x " + std::to_string(image.height);
}

Outcome<Mask> find_mask(const Options& options, const Image& photograph) {
  if (options.mask.empty()) return make_damage(photograph.width, photograph.height, options.seed);
  Outcome<Image> picture = read_picture(options.mask);
  if (!picture.ok()) return Failure{picture.sentence()};
  const Image& mask = picture.value();
  if (mask.width != photograph.width || mask.height != photograph.height) {
    return Failure{options.mask + ": the mask is " + size_of(mask) + " pixels and the photograph " +
                   size_of(photograph) + "; make them the same size"};
  }
  return mask_from_picture(mask);
}

Outcome<> check_damage(const Options& options, const Mask& mask) {
  const std::string what = options.mask.empty() ? "the damage" : options.mask;
  const std::size_t damaged = count_damaged(mask);
  if (damaged == 0) {
    return Failure{what + ": no pixel is damaged; paint what is to be restored white in a --mask"};
  }
  if (damaged == mask.size()) {
    return Failure{what + ": every pixel is damaged; leave some of the photograph known"};
  }
  return success();
}

Outcome<> make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return success();
  return Failure{path + ": the folder could not be made: " + std::strerror(errno) +
                 "; choose another by --output"};
}

}  // namespace

Outcome<Prepared> prepare(const Options& options) {
  Outcome<Image> photograph = read_picture(options.photograph);
  if (!photograph.ok()) return Failure{photograph.sentence()};
  Prepared prepared;
  prepared.original = std::move(photograph.value());

  Outcome<Mask> mask = find_mask(options, prepared.original);
  if (!mask.ok()) return Failure{mask.sentence()};
  prepared.mask = std::move(mask.value());
  Outcome<> checked = check_damage(options, prepared.mask);
  if (!checked.ok()) return Failure{checked.sentence()};

  prepared.damaged = prepared.original;
  paint_damage(prepared.mask, prepared.damaged);
  Outcome<> folder = make_folder(options.output);
  if (!folder.ok()) return Failure{folder.sentence()};
  Outcome<> written = write_png(options.output + "/damaged.png", prepared.damaged);
  if (!written.ok()) return Failure{written.sentence()};
  return prepared;
}

}  // namespace restore
