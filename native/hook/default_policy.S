// The policy of the package's own packs and its table of secrets, inside the program: what judges where no compiled
// policy can be used, or where it brings no table.
#if defined(__APPLE__)
#define SYMBOL(name) _##name
.const
#else
#define SYMBOL(name) name
.section .rodata
#endif
.globl SYMBOL(tipstaff_default_policy)
.globl SYMBOL(tipstaff_default_policy_end)
.balign 16
SYMBOL(tipstaff_default_policy):
.incbin TIPSTAFF_POLICY_IMAGE
SYMBOL(tipstaff_default_policy_end):
.globl SYMBOL(tipstaff_default_secrets)
.globl SYMBOL(tipstaff_default_secrets_end)
.balign 16
SYMBOL(tipstaff_default_secrets):
.incbin TIPSTAFF_SECRET_TABLE
SYMBOL(tipstaff_default_secrets_end):
#if defined(__ELF__)
.section .note.GNU-stack,"",%progbits
#endif
