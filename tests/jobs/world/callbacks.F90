! Attributes and error handlers of the world in Fortran, which go round C in some
! MPIs; the communicators that callbacks are told; and attributes that cross
! between Fortran and C.
#include "notes.inc"
module callbacks
  use job
  implicit none
contains
  ! What a delete callback is told. Open MPI 4 tells those in Fortran an
  ! arbitrary number, with or without us: nothing to look at.
  function told(comm) result(text)
    COMM, intent(in) :: comm
    character(len=9) :: text
    integer :: found
    call get_environment_variable('OMPI_COMM_WORLD_RANK', status=found)
    text = merge('something', seen(comm), found == 0)
  end function

  subroutine copy(comm, keyval, extra, in, out, flag, ierror)
    COMM :: comm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    integer :: mine
    call MPI_Comm_rank(comm, mine, ierror)
    call note('copy: '//trim(seen(comm))//', rank right '//yes(mine == rank)//numbers([int(extra), int(in)]))
    out = in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, keyval, value, extra, ierror)
    COMM :: comm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    call note('delete: '//trim(told(comm))//numbers([int(value), int(extra)]))
    ierror = MPI_SUCCESS
  end subroutine

#ifndef USE_MPI_F08
  ! As MPI-1 had them.
  subroutine old_copy(comm, keyval, extra, in, out, flag, ierror)
    integer :: comm, keyval, extra, in, out, ierror
    logical :: flag
    call note('old copy: '//trim(seen(comm))//numbers([extra, in]))
    out = in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine old_delete(comm, keyval, value, extra, ierror)
    integer :: comm, keyval, value, extra, ierror
    call note('old delete: '//trim(told(comm))//numbers([value, extra]))
    ierror = MPI_SUCCESS
  end subroutine
#endif

  subroutine first_handler(comm, code)
    COMM :: comm
    integer :: code
    call note('first handler: '//trim(seen(comm))//', '//class_of(code))
  end subroutine

  subroutine second_handler(comm, code)
    COMM :: comm
    integer :: code
    call note('second handler: '//trim(seen(comm))//', '//class_of(code))
  end subroutine
end module

program attributes
  use, intrinsic :: iso_c_binding
  use callbacks
  implicit none
  integer :: ierror
  call begin()
  call predefined()
  call users()
#ifndef USE_MPI_F08
  call old_names()
#endif
  call across()
  call handlers()
  call print_notes()
  call MPI_Finalize(ierror)
contains
  subroutine predefined()
    integer, parameter :: keys(7) = [MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_APPNUM, &
                                     MPI_LASTUSEDCODE]
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer :: i, class
    logical :: found
    COMM :: dup
    do i = 1, size(keys)
      value = 0
      call MPI_Comm_get_attr(MPI_COMM_WORLD, keys(i), value, found, ierror)
      call note('predefined'//number(i)//' '//yes(found)//' '//number(int(merge(value, 0_MPI_ADDRESS_KIND, found))))
    end do
    call MPI_Add_error_class(class, ierror)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, found, ierror)
    call note('the class that was added '//yes(value == class))
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierror)
    do i = 1, size(keys)
      value = 0
      call MPI_Comm_get_attr(dup, keys(i), value, found, ierror)
      ! The value is not asked: Open MPI 4 gives the address of a copy here.
      call note('of a dup'//number(i)//' '//yes(found))
    end do
    call MPI_Comm_free(dup, ierror)
  end subroutine

  subroutine get(comm, keyval, what)
    COMM, intent(in) :: comm
    integer, intent(in) :: keyval
    character(len=*), intent(in) :: what
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: found
    value = -1
    call MPI_Comm_get_attr(comm, keyval, value, found, ierror)
    call note(what//' '//yes(found)//' '//number(int(merge(value, -1_MPI_ADDRESS_KIND, found))))
  end subroutine

  subroutine users()
    integer :: keyval, plain, again
    integer(kind=MPI_ADDRESS_KIND) :: extra, value
    COMM :: dup, twice
    extra = 5
    call MPI_Comm_create_keyval(copy, delete, keyval, extra, ierror)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, plain, extra, ierror)
    call get(MPI_COMM_WORLD, keyval, 'before')
    value = 10
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierror)
    value = 20
    call MPI_Comm_set_attr(MPI_COMM_WORLD, plain, value, ierror)
    call get(MPI_COMM_WORLD, keyval, 'set')
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierror)
    call get(dup, keyval, 'in the dup')
    call get(dup, plain, 'in the dup, by MPI_COMM_DUP_FN')
    call MPI_Comm_dup(dup, twice, ierror)
    call get(twice, keyval, 'in its dup')
    call MPI_Comm_free(twice, ierror)
    call MPI_Comm_free(dup, ierror)
    value = 30
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierror)
    again = keyval
    call MPI_Comm_free_keyval(again, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierror)
    call MPI_Comm_free(dup, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, plain, ierror)
    call get(MPI_COMM_WORLD, plain, 'deleted')
  end subroutine

#ifndef USE_MPI_F08
  subroutine old_names()
    integer :: keyval, value, dup
    logical :: found
    external :: MPI_Keyval_create, MPI_Attr_put, MPI_Attr_get, MPI_Attr_delete
    call MPI_Keyval_create(old_copy, old_delete, keyval, 6, ierror)
    call MPI_Attr_put(MPI_COMM_WORLD, keyval, 40, ierror)
    call MPI_Attr_get(MPI_COMM_WORLD, keyval, value, found, ierror)
    call note('by the old names '//yes(found)//' '//number(value))
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierror)
    call MPI_Attr_get(dup, keyval, value, found, ierror)
    call note('by the old names, in a dup '//yes(found)//' '//number(value))
    call MPI_Comm_free(dup, ierror)
    call MPI_Attr_delete(MPI_COMM_WORLD, keyval, ierror)
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, found, ierror)
    call note('by the old names, MPI_TAG_UB '//yes(found)//' '//yes(value >= 32767))
  end subroutine
#endif

  ! What C sets, Fortran reads, and the reverse: one communicator, two languages.
  subroutine across()
    interface
      function dlsym(scope, name) bind(c)
        import
        type(c_ptr), value :: scope
        character(kind=c_char) :: name(*)
        type(c_funptr) :: dlsym
      end function
      function c_rank(comm, rank) bind(c, name='MPI_Comm_rank')
        import
        integer(c_intptr_t), value :: comm
        integer(c_int) :: rank, c_rank
      end function
      function c_set_attr(comm, keyval, value) bind(c, name='MPI_Comm_set_attr')
        import
        integer(c_intptr_t), value :: comm, value
        integer(c_int), value :: keyval
        integer(c_int) :: c_set_attr
      end function
      function c_get_attr(comm, keyval, value, flag) bind(c, name='MPI_Comm_get_attr')
        import
        integer(c_intptr_t), value :: comm
        integer(c_int), value :: keyval
        type(c_ptr) :: value
        integer(c_int) :: flag, c_get_attr
      end function
    end interface
    abstract interface
      function f2c(comm)
        import
        integer(c_int), value :: comm
        integer(c_intptr_t) :: f2c
      end function
    end interface
    procedure(f2c), pointer :: comm_f2c
    type(c_funptr) :: found
    integer :: keyval
    integer(c_int) :: c_flag, mine
    integer(c_intptr_t) :: world
    integer(kind=MPI_ADDRESS_KIND) :: extra, value
    integer(kind=MPI_ADDRESS_KIND), pointer :: there
    type(c_ptr) :: address
#ifdef USE_MPI_F08
    world = MPI_COMM_WORLD%MPI_VAL
#else
    world = MPI_COMM_WORLD
#endif
    ! A function in Open MPI; in MPICH, a macro that changes nothing.
    found = dlsym(c_null_ptr, 'MPI_Comm_f2c'//c_null_char)
    if (c_associated(found)) then
      call c_f_procpointer(found, comm_f2c)
      world = comm_f2c(int(world, c_int))
    end if
    ierror = c_rank(world, mine)
    call note('rank in C '//number(mine))
    extra = 7
    call MPI_Comm_create_keyval(copy, delete, keyval, extra, ierror)
    ierror = c_set_attr(world, keyval, 1234_c_intptr_t)
    call get(MPI_COMM_WORLD, keyval, 'set in C')
    value = 4321
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierror)
    ierror = c_get_attr(world, keyval, address, c_flag)
    if (c_flag /= 0) then
      call c_f_pointer(address, there)
      call note('set in Fortran '//number(int(there)))
    else
      call note('set in Fortran, and not found in C')
    end if
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierror)
  end subroutine

  subroutine raise(comm)
    COMM, intent(in) :: comm
    integer :: code, class
    call MPI_Send(rank, 1, MPI_INTEGER, ranks + 3, 0, comm, code)
    call MPI_Error_class(code, class, ierror)
    call note('returned '//class_of(code))
  end subroutine

  subroutine handlers()
    HANDLER :: one, two, got
    COMM :: dup
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, got, ierror)
    call note('fatal at first '//yes(got == MPI_ERRORS_ARE_FATAL))
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
    call MPI_Comm_create_errhandler(first_handler, one, ierror)
    call MPI_Comm_create_errhandler(second_handler, two, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, one, ierror)
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, got, ierror)
    call note('got back '//yes(got == one))
    call raise(MPI_COMM_WORLD)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierror)
    call raise(dup)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, two, ierror)
    call MPI_Errhandler_free(one, ierror)
    call raise(MPI_COMM_WORLD)
    call raise(dup)
    call MPI_Errhandler_free(two, ierror)
    call raise(MPI_COMM_WORLD)
    call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER, ierror)
    call MPI_Comm_free(dup, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call raise(MPI_COMM_WORLD)
  end subroutine
end program

! RANKS:    3
! PROVES:   attributes and error handlers of the world in Fortran are those that C
!           sees, and callbacks are told MPI_COMM_WORLD.
! PITFALLS: 6 7 8
! FAILURES: commattr4f commattr4f90 fandcattrf90 fandcattrf08
