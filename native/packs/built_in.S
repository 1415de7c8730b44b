// A compiled file as it is, between NAME and NAME_end.
#if defined(__APPLE__)
#define SYMBOL(name) _##name
#define HIDDEN .private_extern
.const
#else
#define SYMBOL(name) name
#define HIDDEN .hidden
.section .rodata
#endif
#define JOINED(name, more) name##more
#define END(name) JOINED(name, _end)
#define GLOBAL(name) .globl SYMBOL(name); HIDDEN SYMBOL(name)
GLOBAL(NAME)
GLOBAL(END(NAME))
.balign 16
SYMBOL(NAME):
.incbin FILE
SYMBOL(END(NAME)):
#if defined(__ELF__)
.section .note.GNU-stack,"",%progbits
#endif
