# One native call for all gates: most calls hold nothing for any of them. Included by _gates.pyx, after Policy.

cdef class Losses:
    """What a call would lose."""

    cdef CLosses losses
    cdef cbool proves

    @property
    def proven(self):
        """Whether the call is proven to read alone."""
        return bool(self.proves)

    @property
    def loses(self):
        """Whether git alone would not give it back."""
        return bool(self.losses.loses())

    @property
    def wants_keeping(self):
        """Whether something is to be kept before the call is let through."""
        return bool(self.losses.wants_keeping())

    @property
    def kept(self):
        """The identifier of what was kept; empty where nothing was."""
        return shown(self.losses.id())

    def facts(self, now_ns):
        """Return what is known of the files that the call is about, one sentence each."""
        return tuple(shown(self.losses.say(0, now_ns)).splitlines())

    def lost(self, now_ns):
        """Return what is lost, in words."""
        return shown(self.losses.say(1, now_ns))

    def why(self):
        """Return why it cannot be kept."""
        return shown(self.losses.say(2, 0))

    def keep(self, state, command, session, cwd):
        """Keep it; return whether that was done."""
        cdef tuple texts = tuple(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text for text in (state, command, session, cwd))
        cdef string_view one = borrow(texts[0])
        cdef string_view two = borrow(texts[1])
        cdef string_view three = borrow(texts[2])
        cdef string_view four = borrow(texts[3])
        cdef bint done
        with nogil:
            done = self.losses.keep(one, two, three, four)
        return bool(done)


cdef class Judge:
    """Judges most calls by all gates at once: one policy, its settings, and a secrets table.

    Parameters
    ----------
    policy, settings
        As of :meth:`Policy.command`.
    secrets
        Bytes of the secret scanner's table; None where the secrets gate is off.
    """

    cdef Policy policy
    cdef Settings used
    cdef SecretWatch watch
    cdef bytes table
    cdef bint watches

    def __init__(self, Policy policy not None, settings, bytes secrets):
        self.policy = policy
        policy.take_settings(settings, &self.used)
        self.table = secrets
        self.watches = secrets is not None
        if self.watches and not self.watch.open(
            <const unsigned char*> PyBytes_AS_STRING(secrets), PyBytes_GET_SIZE(secrets), FINDER
        ):
            raise ValueError("secrets: not a valid table of secrets")

    def command(self, str text not None, int dialect, CallSite site not None, Flow flow=None):
        """Judge a command after what earlier calls of the same run did, which is changed.

        Returns None where no gate finds anything; else the findings as of `Policy.command`, and whether the text holds no
        secret.
        """
        cdef Room* room = &own_room()
        cdef Verdict* verdict = &room.verdict()
        cdef Call call
        cdef Field field
        cdef bint clean
        cdef bytes encoded  # of a text with lone surrogates
        cdef FlowState* state = NULL
        try:
            field.text = borrow(text)
        except UnicodeEncodeError:
            encoded = text.encode("utf-8", "surrogatepass")
            field.text = borrow(encoded)
        field.element = NOTHING
        call.field_count = 1
        call.site = &site.site
        set_dialect(call, dialect)
        if flow is not None:
            state = flow.taken()
        try:
            if field.text.size() < LARGE:
                judge(self.policy.image, self.used, call, &field, room[0], state, verdict, NULL)
                clean = not self.watches or self.watch.is_clean(field.text)
            else:
                with nogil:
                    judge(self.policy.image, self.used, call, &field, room[0], state, verdict, NULL)
                    clean = not self.watches or self.watch.is_clean(field.text)
        finally:
            if state != NULL:
                flow.give_back()
        if verdict.count == 0:
            return None if clean else ([], False)
        return self.policy.findings(&verdict.findings[0], verdict.count, &field, 1, text.isascii()), clean and self.watches

    def call(
        self, str tool not None, params, int dialect, CallSite site not None, dict sites not None, Flow flow=None
    ):
        """Judge a tool call after what earlier calls of the same run did, which is changed.

        Returns None where no gate finds anything; else the findings as of `Policy.event`, or None where it takes a closer
        look, for which nothing was judged yet, and whether no text holds a secret.

        Parameters
        ----------
        tool
            Its name.
        params
            Names and texts; of numbers and truth values only True is examined. Anything else takes a closer look.
        dialect
            Of its commands.
        site
            Where it happens, if the parameters do not say that.
        sites
            Directories that were met, to their sites.
        """
        cdef Room* room = &own_room()
        cdef Verdict* verdict = &room.verdict()
        cdef Call call
        cdef Field fields[FEW_FIELDS]
        cdef uint32_t count = 0
        cdef uint32_t i
        cdef Py_ssize_t size = 0
        cdef const char* data
        cdef size_t total = 0
        cdef CallSite where = site
        cdef bint clean
        cdef FlowState* state = NULL
        if type(params) is not dict or len(params) > FEW_FIELDS:
            return None, False
        try:
            data = PyUnicode_AsUTF8AndSize(tool, &size)
            if size == 0:
                return None, False
            call.tool = string_view(data, size)
            for key, value in (<dict> params).items():
                if type(key) is not str:
                    return None, False
                data = PyUnicode_AsUTF8AndSize(key, &size)
                if not is_simple(data, size) or (self.watches and size >= 8 and not self.watch.is_clean(string_view(data, size))):
                    return None, False
                if value is True:
                    fields[count].name = string_view(data, size)
                    fields[count].text = string_view("true", 4)
                    fields[count].element = NOTHING
                    count += 1
                    continue
                if type(value) is not str:
                    if value is None or isinstance(value, (py_bool, int, float)):
                        continue
                    return None, False
                fields[count].name = string_view(data, size)
                fields[count].element = NOTHING
                if names_directory(fields[count].name) and len(value) != 0 and value[0] == "/":
                    found = sites.get(value)
                    if found is None or where is not site:
                        return None, False
                    where = found
                data = PyUnicode_AsUTF8AndSize(value, &size)
                fields[count].text = string_view(data, size)
                total += size
                count += 1
        except UnicodeEncodeError:
            return None, False
        call.field_count = count
        call.site = &where.site
        set_dialect(call, dialect)
        if flow is not None:
            state = flow.taken()
        try:
            if total < LARGE:
                judge(self.policy.image, self.used, call, fields, room[0], state, verdict, NULL)
                clean = self.no_secrets(fields, count)
            else:
                with nogil:
                    judge(self.policy.image, self.used, call, fields, room[0], state, verdict, NULL)
                    clean = self.no_secrets(fields, count)
        finally:
            if state != NULL:
                flow.give_back()
        if verdict.count == 0:
            return None if clean else ([], False)
        return self.policy.findings(&verdict.findings[0], verdict.count, fields, count, False), clean

    def weigh(self, tool, fields, int dialect, CallSite site not None, Flow flow=None, *, bint proof=False):
        """Judge a call by what is there.

        Returns findings as of `Policy.event`, whether no text holds a secret, and the losses; with `proof`, these say
        whether it is proven to read alone.
        """
        cdef Room* room = &own_room()
        cdef Verdict* verdict = &room.verdict()
        cdef vector[Field] taken_fields
        cdef Call call
        cdef bint clean
        cdef FlowState* state = NULL
        cdef Losses losses = Losses()
        cdef Evidence* evidence = losses.losses.open(self.used.config)
        call.tool = borrow(tool)
        self.policy.take_fields(fields, &taken_fields)
        call.field_count = taken_fields.size()
        call.site = &site.site
        set_dialect(call, dialect)
        if flow is not None:
            state = flow.taken()
        try:
            with nogil:  # files are read
                judge(self.policy.image, self.used, call, taken_fields.data(), room[0], state, verdict, NULL, evidence, &losses.proves if proof else NULL)
                clean = self.no_secrets(taken_fields.data(), taken_fields.size())
        finally:
            if state != NULL:
                flow.give_back()
        findings = []
        if verdict.count != 0:
            findings = self.policy.findings(&verdict.findings[0], verdict.count, taken_fields.data(), taken_fields.size(), False)
        return findings, clean, losses

    cdef bint no_secrets(self, const Field* fields, uint32_t count) noexcept nogil:
        cdef uint32_t i
        if not self.watches:
            return True
        for i in range(count):
            if fields[i].name.size() >= 8 and not self.watch.is_clean(fields[i].name):
                return False
            if is_former_field(fields[i].name):
                continue
            if not self.watch.is_clean(fields[i].text) or not self.watch.is_clean_pair(fields[i].name, fields[i].text):
                return False
        return True


# A name in lower case that needs no escape: of most parameters.
cdef bint is_simple(const char* data, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        if not (97 <= data[i] <= 122 or data[i] == 95 or 48 <= data[i] <= 57):
            return False
    return size > 0
