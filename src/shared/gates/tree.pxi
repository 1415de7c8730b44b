# How a text was read, for who asks. Included by _gates.pyx, before Policy.

cdef object tree_of(const Image& image, object text, int dialect, CallSite site):
    """Nodes, commands and open questions, as `Policy.read_tree` returns them."""
    cdef Verdict verdict
    cdef Settings used
    cdef Call call
    cdef Field field
    cdef uint32_t i, w
    cdef string_view whole
    cdef const Command* command
    cdef const Word* words
    used.config.switches = 1
    field.text = whole = borrow(text)
    field.element = NOTHING
    call.field_count = 1
    call.site = &site.site
    set_dialect(call, dialect)
    cdef OneTree one
    one.read(image, used, call, field, &verdict)
    cdef Tree* tree = one.tree()
    nodes = []
    for i in range(tree.node_count()):
        nodes.append((
            node_kind(tree.nodes()[i]), node_dialect(tree.nodes()[i]), bool(tree.nodes()[i].is_code),
            code_point_at(whole, tree.nodes()[i].span.start), code_point_at(whole, tree.nodes()[i].span.end),
            -1 if tree.nodes()[i].parent == NOTHING else tree.nodes()[i].parent,
            -1 if tree.nodes()[i].command == NOTHING else tree.nodes()[i].command,
        ))
    commands = []
    for i in range(tree.command_count()):
        command = &tree.commands()[i]
        words = tree.arguments(command[0])
        arguments = []
        for w in range(command.word_count):
            arguments.append((shown(words[w].text), words[w].flags, classes_of(site.site, command[0], words[w]),
                              code_point_at(whole, words[w].span.start), code_point_at(whole, words[w].span.end)))
        commands.append((
            shown(command.program), arguments, command.via, dialect_of(command[0]), shown(command.cwd),
            -1 if command.carrier == NOTHING else command.carrier,
            -1 if command.pipe_from == NOTHING else command.pipe_from,
            code_point_at(whole, command.span.start), code_point_at(whole, command.span.end),
            shown(command.input.text) if command.has_input else None,
        ))
    uncertain = []
    for i in range(tree.uncertainty_count()):
        uncertain.append((
            reason_of(tree.uncertainties()[i]),
            code_point_at(whole, tree.uncertainties()[i].span.start),
            code_point_at(whole, tree.uncertainties()[i].span.end),
            -1 if tree.uncertainties()[i].command == NOTHING else tree.uncertainties()[i].command,
        ))
    return nodes, commands, uncertain
