#include "damage.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace restore {
namespace {

// FNV-1a over the mask: one number that any moved pixel changes.
std::uint64_t fingerprint(const Mask& mask) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::uint8_t kind : mask) hash = (hash ^ kind) * 0x100000001b3u;
  return hash;
}

TEST(DamageTest, TheSameSeedDamagesTheSamePixels) {
  EXPECT_EQ(make_damage(320, 240, 7), make_damage(320, 240, 7));
  EXPECT_NE(make_damage(320, 240, 7), make_damage(320, 240, 8));
}

TEST(DamageTest, EveryMachineDrawsTheSameDamage) {
  EXPECT_EQ(fingerprint(make_damage(256, 192, 1)), 3374004421445407723u);
}

TEST(DamageTest, EveryKindOfDamageOccursAndMuchOfThePictureRemains) {
  const Mask mask = make_damage(1024, 768, 1);
  for (Damage kind : {Damage::kScratch, Damage::kBlot, Damage::kInk}) {
    EXPECT_GT(std::count(mask.begin(), mask.end(), static_cast<std::uint8_t>(kind)), 1000);
  }
  const double share = static_cast<double>(count_damaged(mask)) / static_cast<double>(mask.size());
  EXPECT_GT(share, 0.10);
  EXPECT_LT(share, 0.35);
}

TEST(DamageTest, TinyPicturesCanBeDamaged) {
  EXPECT_EQ(make_damage(2, 2, 1).size(), 4u);
  EXPECT_EQ(make_damage(2000, 2, 1).size(), 4000u);
}

TEST(DamageTest, PaintingLosesTheDamagedPixelsAndKeepsTheOthers) {
  Image image(3, 1, 3);
  image.samples = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  paint_damage({0, static_cast<std::uint8_t>(Damage::kErased), 0}, image);
  EXPECT_EQ(image.samples, (std::vector<std::uint8_t>{1, 2, 3, 0, 0, 0, 7, 8, 9}));
}

TEST(DamageTest, LightPixelsOfAMaskPictureAreDamaged) {
  Image grey(3, 1, 1);
  grey.samples = {0, 127, 128};
  EXPECT_EQ(mask_from_picture(grey), (Mask{0, 0, 1}));
  Image colour(2, 1, 3);
  colour.samples = {255, 255, 255, 255, 0, 0};
  EXPECT_EQ(mask_from_picture(colour), (Mask{1, 0}));
}

}  // namespace
}  // namespace restore
