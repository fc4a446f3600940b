! Static data of Fortran are symmetric: of modules, of common blocks, saved ones.
module kept
  use shmem
  implicit none
  integer(c_int), save :: from = -1
  real(c_double), save :: table(3, 4) = 0
  character(len=5, kind=c_char), save :: text = '-----'
  complex(c_float_complex), save :: one = (0, 0)
end module kept

subroutine fill(next, me)
  use kept
  implicit none
  integer, intent(in) :: next, me
  integer(c_long) :: shared
  integer(c_short), save :: own = 0
  common /block/ shared(8)
  call shmem_p(from, me, next)
  call shmem_double_put(table(2, 3), [1.5_c_double * me], 1_c_size_t, next)
  call shmem_char_put(text, 'hello', 5_c_size_t, next)
  call store_complex(next, me)
  call shmem_long_atomic_add(shared(5), int(10 + me, c_long), next)
  call shmem_p(own, int(me + 1, c_short), next)
  call shmem_barrier_all()
  if (own /= modulo(me - 1, shmem_n_pes()) + 1) error stop 'own'
end subroutine fill

! Bytes of any type go by C pointers.
subroutine store_complex(next, me)
  use kept
  implicit none
  integer, intent(in) :: next, me
  complex(c_float_complex), target :: mine
  type(c_ptr) :: there
  interface
    function address_of_one() result(address)
      import :: c_ptr
      type(c_ptr) :: address
    end function address_of_one
  end interface
  mine = cmplx(me, -me, c_float_complex)
  there = address_of_one()
  call shmem_putmem(there, c_loc(mine), c_sizeof(mine), next)
end subroutine store_complex

function address_of_one() result(address)
  use kept, only: one, c_ptr, c_loc, c_float_complex
  implicit none
  type(c_ptr) :: address
  address = place(one)
contains
  function place(object)
    complex(c_float_complex), target, intent(in) :: object
    type(c_ptr) :: place
    place = c_loc(object)
  end function place
end function address_of_one

program statics
  use kept
  implicit none
  integer(c_long) :: shared
  integer, save :: flag = 0
  integer :: me, next, before
  common /block/ shared(8)
  call shmem_init()
  me = shmem_my_pe()
  next = modulo(me + 1, shmem_n_pes())
  before = modulo(me - 1, shmem_n_pes())
  shared = 0
  call shmem_barrier_all()
  call fill(next, me)
  if (from /= before .or. text /= 'hello') error stop 'module'
  if (abs(table(2, 3) - 1.5_c_double * before) > 0 .or. abs(sum(table) - table(2, 3)) > 0) error stop 'table'
  if (nint(real(one)) /= before .or. nint(aimag(one)) /= -before) error stop 'complex'
  if (shared(5) /= 10 + before .or. sum(shared) /= shared(5)) error stop 'common'

  ! A variable that only others change, in a loop without a call that has it as an argument.
  if (me == 0) call shmem_atomic_set(flag, 7, next)
  do while (flag /= 7 .and. next /= 0 .and. me == 1)
    call shmem_fence()
  end do
  call shmem_barrier_all()
  if (me == 0) print '(i0, a)', shmem_n_pes(), ' PEs have what others stored'
  call shmem_finalize()
end program statics
