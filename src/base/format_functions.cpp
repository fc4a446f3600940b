// The functions of the library fmt, as part of ours. A program may use fmt itself: then its copy of
// the library is its own, and lies in memory that may fault while ours must not.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// fmt/format.h leaves these to the library.
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;

}  // namespace detail
FMT_END_NAMESPACE
