"""The words and phrases by which a task shows its intent, as data.

A row is ``intent weight [leading weight] words``; words are separated by commas and may be phrases. A weight of about 1
is a clear sign, 2 or more decides almost alone, below 0.5 only tips a balance. The leading weight holds where a verb
opens the task ("document the ..."). Inflections and the other spelling of -ise are derived. Apostrophes and hyphens
separate words: ``doesn t``, ``off by one``.
"""

from __future__ import annotations

from typing import Final

# What one does. Inflected as verbs; in a phrase the first word is.
VERBS: Final = """
bug-fix      1.2  1.8  fix, bugfix, hotfix
bug-fix      0.9  1.3  repair, resolve
bug-fix      0.5  1    correct, patch
bug-fix      0.2  0.5  handle, restore
feature      0.5  2.2  feat
feature      0.5  0.8  allow, enable
feature      0.45 0.7  let, offer
feature      0.4  0.7  wire, hook up, notify, highlight, localise, paginate, animate, generate, customise
feature      0.4  0.7  prototype
feature      0.4  0.65 implement, introduce
feature      0.4  0.6  add, create, develop, integrate
feature      0.35 0.7  build, support
feature      0.3  0.6  provide, show, display, change, want
feature      0.2  0.4  extend, update, make, enhance, improve, need, put, include, accept, embed, sync, persist
feature      0.2  0.4  scaffold, expose
feature      0.2  0.35 validate
refactor     1.2  1.9  refactor, restructure, reorganise, deduplicate, untangle, disentangle, modularise
refactor     1.2  1.9  re factor
refactor     1    1.6  simplify, decouple, consolidate, rename, dedupe
refactor     0.8  1.4  extract, inline, tidy, unify, rewrite, rework, streamline
refactor     0.8  1.3  clean, clean up, break up, get rid of, tidy up, encapsulate, reformat, flatten
refactor     0.5  1    split, convert, modernise, abstract, generalise, prune, shorten, lint
refactor     0.3  0.6  replace, eliminate, merge, collapse, pull, port, swap, turn, normalise, isolate
refactor     0.2  0.4  remove, delete, drop, move
security     1.4  1.8  encrypt, harden, sanitise, authorise, authenticate, pentest
security     1    1.4  secure, hack, exploit, bypass, spoof, tamper, decrypt
security     0.9  1.2  lock down
security     0.6  0.9  audit, leak, impersonate
security     0.4  0.7  hash, escape, protect, revoke, sign in, log in
security     0.2  0.3  rotate, restrict, forbid
performance  1.2  1.8  optimise, speed up, accelerate, perf
performance  1    1.6  parallelise, vectorise, memoise, lazy load, preload, prefetch, scale up
performance  1    1.5  benchmark, load test, stress test
performance  1    1.4  precompute
performance  0.9  1.2  slow, slow down, lag
performance  0.6  1.5  cache
performance  0.5  1    debounce, tune, compress
performance  0.3  1.6  profile
performance  0.2  0.3  reduce, lower, shrink, batch, throttle, raise
testing      1    1.8  test, retest
testing      1    1.6  mock, assert, stub
testing      0.9  1.4  fuzz
testing      0.5  0.8  check that, verify that, make sure
testing      0.3  0.5  cover, verify, parametrise
docs         1    1.6  explain, describe
docs         0.8  1.4  comment, annotate
docs         0.8  1.2  write down, write up
docs         0.5  2.2  document
docs         0.4  0.7  mention, clarify, summarise
docs         0.4  0.6  translate, proofread, reword
deployment   1    1.9  deploy, redeploy, containerise, dockerise
deployment   0.9  1.6  release, publish, roll out, roll back, provision
deployment   0.9  1.4  go live
deployment   0.6  1.3  ship, cut a release
deployment   0.5  0.9  migrate, promote, bump, install
deployment   0.3  0.6  push, restart, tag, host
architecture 1.2  1.8  architect
architecture 0.9  1.1  choose between
architecture 0.7  1.2  design, redesign
architecture 0.5  0.7  model, decide whether, decide between, decide on, propose
architecture 0.3  0.7  evaluate, compare
architecture 0.3  0.4  structure, choose, define
debug        1.2  1.9  debug, diagnose, investigate, troubleshoot
debug        1.2  1.7  explain why
debug        1.1  1.7  look into, find out, figure out, track down, narrow down, dig into, bisect
debug        0.9  1.4  inspect, reproduce, examine, analyse
debug        0.6  1.7  trace
debug        0.5  0.9  understand why, look at, check why, see why, find, watch, triage, instrument
debug        0.3  0.9  log
debug        0.3  0.5  check, understand
"""

# What it is done to. Inflected as nouns; in a phrase the last word is.
NOUNS: Final = """
bug-fix      1.1  bug, bugfix, hotfix, regression, crash, defect, typeerror, off by one, segfault
bug-fix      0.9  error, exception, race condition, deadlock, glitch, null pointer, failure, bug fix
bug-fix      0.8  infinite loop, mistake, misbehaviour, memory corruption
bug-fix      0.6  issue, fault, problem, workaround, 500, 502, 503, 404, timeout, white screen, black screen
bug-fix      0.4  edge case
feature      0.8  functionality, capability, support for, dark mode, feature request, user story, new feature
feature      0.6  feature, error message, error handling, error page, widget, wizard, interface language
feature      0.6  drag and drop, autosave, autocomplete, possibility
feature      0.45 button, dialog, modal, dashboard, toggle, dropdown, menu, sidebar, screen, page, form, picker
feature      0.35 component, profile, option, chart, filter, shortcut, checkbox, tooltip, banner, logo, avatar
feature      0.35 user interface, user profile, colour scheme, theme, colour, color, view, icon, label, link
feature      0.35 badge, popup, tab, carousel, calendar, search box, landing page, search bar
feature      0.25 setting, export, import, endpoint, plugin, notification, upload, footer, header, picture
feature      0.1  user, customer, report, field
feature      0    pull request, merge request, building block
refactor     1    dead code, code quality, code smell, tech debt, technical debt, spaghetti code, cleanup
refactor     0.9  readability, duplication, duplicate code, duplicated code, duplicated logic, maintainability
refactor     0.8  complexity, copy paste, naming convention, god class, god object, lookup table, base class
refactor     0.8  type hint, repetition, mess
refactor     0.6  debug code, debug log, debug logging, debug output, debug statement, console log
refactor     0.5  boilerplate, clarity, global variable, magic number, own file, smaller file, smaller function
refactor     0.4  switch statement, mixin, magic string, naming, helper
refactor     0.1  code, class, function, method, module, package, file
security     2    vulnerability, vuln, xss, csrf, ssrf, sqli, cve, injection, rce, cross site scripting, xxe
security     2    clickjacking, path traversal, privilege escalation, security hole, zip bomb, open redirect
security     1.2  access control, threat model, penetration test, pen test, pentest, exploit, attacker, rbac
security     1.2  backdoor, malware, supply chain, man in the middle, intrusion, replay attack, injection attack
security     1.1  security
security     1    token, secret, credential, permission, authorisation, authentication, api key, brute force
security     1    signing key, private key, encryption, attack, phishing, two factor, password policy, auth
security     0.9  privilege, password, jwt, oauth, firewall, hacker, csp, mfa, 2fa, rate limiting, sso, threat
security     0.9  impersonation, hsts, hmac, sensitive data, pii, captcha, cors, sbom, tampering, spoofing
security     0.9  lockout
security     0.7  input validation
security     0.6  certificate, tls, ssl, audit log, hardening, personal data, leak, vault, role based, acl
security     0.6  signature, allowlist, denylist, blocklist, sandbox, other user, role, identity, rate limit
security     0.4  stranger, gdpr, user input
security     0.35 login, cookie, session, passkey, sign in, log in, logout, key, right, admin, access
performance  1.1  bottleneck, latency, throughput, benchmark, slowdown, speedup, memory leak
performance  1    memory usage, memory consumption, memory footprint, response time, load time, n 1, cpu usage
performance  1    core web vital, table scan, time to first byte, jank, performance
performance  0.9  startup time, bundle size, cpu, hot path, render time, page speed, load speed
performance  0.8  round trip, frame rate, fps, connection pool, scalability, time complexity, hot loop
performance  0.8  concurrency, cold start
performance  0.7  build time, cache
performance  0.5  memory, speed, index, under load, allocation, garbage collection, ram, overhead, second
performance  0.5  millisecond, gigabyte, megabyte
performance  0.4  minute, query, every row, pool
performance  0.35 spike
testing      1.1  unit test, integration test, test suite, test case, test plan, test coverage, regression test
testing      1.1  quality assurance, end to end test, e2e test, regression suite, test data, test harness
testing      1    test, spec, mock, stub, assertion, tdd, bdd, coverage, fixture, unittest, doctest, pytest, qa
testing      0.9  junit, vitest, rspec, mocha, selenium, smoke test, contract test, golden file, with a test
testing      0.9  with test
testing      0.8  flake, flakiness
testing      0.7  suite, snapshot test, fake, e2e, end to end, jest, test runner, playwright, cypress, fuzzing
testing      0.6  corner case, tester, sanity check
docs         1.5  typo
docs         1.4  broken link, spelling mistake
docs         1.3  release note, api doc, usage guide, api reference, changelog, docstring, jsdoc, readme
docs         1.2  javadoc, man page, quickstart, doc string
docs         1.1  documentation, tutorial, guide, faq, cheat sheet, how to guide, contributing guide, howto
docs         1    doc
docs         0.8  manual, handbook, wiki, comment, getting started, wording, guideline, walkthrough, runbook
docs         0.8  cookbook, mkdocs, sphinx, blog post, help text, code sample, contributing
docs         0.5  document, spelling, example, how to, overview, glossary, explanation, instruction
docs         0.4  section, paragraph, chapter, article, reference
deployment   1.1  deployment, rollout, rollback, ci cd, github action, git hub action, gitlab ci, git lab ci
deployment   1.1  dockerfile
deployment   1    docker, kubernetes, k8s, helm, terraform, ansible, jenkins, compose file, helm chart
deployment   1    docker image, cutover, go live
deployment   0.9  release, pipeline, ci, cd, staging, release candidate, build pipeline, nightly build
deployment   0.7  migration, infrastructure, blue green, canary, zero downtime, container, continuous delivery
deployment   0.7  load balancer, vercel, heroku, netlify, build server, build agent, autoscaling, maven central
deployment   0.5  production, prod, version, app store, artifact, registry, infra, cluster, npm, pypi, pod
deployment   0.5  replica, aws, azure, gcp, nginx, semver, installer, downtime, hosting, container registry
deployment   0.35 runner, alert, alerting, monitoring, makefile, vm
deployment   0.25 environment, workflow, server, wheel, cloud, script
architecture 1.2  architecture, separation of concern, bounded context, aggregate root, domain model, adr
architecture 1.1  system design, design pattern, module boundary, api design, service mesh, event sourcing
architecture 1    boundary, microservice, cqrs, monolith, port and adapter, hexagonal, component diagram, ddd
architecture 1    topology, blueprint, service boundary, extension point, tech stack, technology choice
architecture 0.8  interface between, layering, data model, event driven, message bus, multi tenancy, coupling
architecture 0.7  interface, design, structure, trade off, tradeoff, monorepo, dependency direction, layer
architecture 0.7  pub sub, message queue, message broker, data flow, sequence diagram, class diagram, sharding
architecture 0.7  pattern, package layout, folder layout, module layout, module structure, rfc, contract between
architecture 0.7  saga
architecture 0.5  decision, schema, own service, shared database, versus, vs, diagram, proposal, abstraction
architecture 0.5  responsibility, broker
architecture 0.2  service, system, backend, graphql, kafka, kernel, backbone, tier, event
debug        1.2  root cause, stack trace, core dump, heap dump, breakpoint, postmortem, steps to reproduce
debug        1.2  what went wrong, repro
debug        1    reproduction, diagnosis, debugger, investigation, diagnostic
debug        0.9  strace, gdb, pdb, wireshark, mystery, cause, print statement
debug        0.5  log, trace, log line, log file, dump, source of
"""

# How it shows. Taken as they are.
SIGNS: Final = """
bug-fix      1.3  not working, doesn t work, does not work, don t work, didn t work, isn t working
bug-fix      1.3  stopped working, does nothing, out of sync, do not work, no longer works, aren t working
bug-fix      1.3  won t work, not work, no funciona, nao funciona, ne fonctionne pas, non funziona
bug-fix      1.3  funktioniert nicht, geht nicht, не работает, не работают, не открывается
bug-fix      1.1  crashes, crashed, crashing, crash, cannot, can t, couldn t, won t, unable to, no longer, throws
bug-fix      1.1  used to work, keeps crashing
bug-fix      0.95 broken, wrong, wrongly, incorrect, incorrectly, failing, fails, failed, fail
bug-fix      0.9  doesn t, don t, didn t, isn t, aren t, wasn t, does not, is not, are not, did not, has no
bug-fix      0.9  hasn t, unexpected, breaks, freezes, freeze, hangs, hang, stuck, disappears, disappear
bug-fix      0.9  disappeared, vanishes, buggy, garbled, unexpectedly, misaligned, truncated, corrupt, corrupted
bug-fix      0.9  mismatch, flickers, undefined, nan, misbehaves, unusable, unreachable, refuses, reappears
bug-fix      0.9  times out, timed out, any more, anymore, any longer
bug-fix      0.8  stale, is off, are off, add up
bug-fix      0.7  loses, lost, lose, ignored, ignores, ignoring, missing, twice, instead of, cut off, null, blank
bug-fix      0.7  overlaps, overlap, stays open, overwritten, inconsistent, unresponsive, break, too early
bug-fix      0.7  too late, returns no, returns the, wrong order, rejected, never, nothing, skipped, at random
bug-fix      0.7  suddenly, gone, swapped, mixed up, mixes up, dies, die, unreadable, glitchy, goes blank, keeps
bug-fix      0.5  sometimes, should not, shouldn t, nobody, no one, endless, since yesterday, stopped, remains
bug-fix      0.5  do not, stops, halfway
bug-fix      0.4  empty, duplicate, only half, randomly, intermittent, down, negative, accidentally, odd, strange
bug-fix      0.4  not, too many, too few, not shown, delayed, shows, always
feature      0.8  able to, possible to, would like to, would like, as a user, could you add, wish, ability to
feature      0.8  option to, a way to, d like, is it possible
feature      0.7  ask for, asked for, would be nice
feature      0.5  configurable, customisable, optional
feature      0.35 new, custom, collapsible
feature      0.3  should, should be
refactor     0.9  convoluted, does too much, easier to read, easier to follow, hard to read, hard to follow
refactor     0.9  unmaintainable
refactor     0.7  duplicated, unused, obsolete, messy, cleaner, spaghetti, readable, cluttered, tangled, redundant
refactor     0.7  ugly, repeated
refactor     0.4  legacy, giant, huge, deprecated, clearer, smaller, nested
security     1.2  unauthorised, unauthorized, insecure, vulnerable, hackable, bypassed, malicious
security     1    authz, authn, hacked, unauthenticated, untrusted, secure, securely, exploitable, safe against
security     1    intrusive
security     0.8  unescaped, confidential
security     0.7  validate input, validate user input
security     0.5  anyone, someone else, strangers, sensitive, other people, exposed, guessing, private, who can
security     0.4  unsafe, safer, anyone can, other tenants, plaintext, plain text, httponly
performance  1    slow, slower, slowly, sluggish, laggy, faster, efficient, inefficient, performant
performance  1    too many queries, full table scan, janky, quadratic, at scale
performance  0.8  fast, quicker, snappier, efficiently, efficiency, too long, ages, caching, takes forever
performance  0.6  takes, too large, heavy, growing, grows, eats, hot, parallel, expensive, wasteful, hogs
testing      0.7  flaky, untested, testable, property based
docs         0.7  documented, undocumented, outdated, out of date, misleading
docs         0.6  how does, what does
deployment   0.5  devops, nightly, go live, live, red
architecture 1    architectural, architecturally
architecture 0.35 should we, how should, where should
architecture 0    what should, when should, who should, should i, where should we, where should i, how should i
architecture 0.5  scalable, modular, event based, serverless
debug        1.2  why does, why is, why do, why are, why did, what causes, what caused, what is causing
debug        0.9  why, reproducible, where do, where does, come from, coming from, going on, what happens
debug        0.9  how come, no idea, nobody knows, mysterious, mysteriously
"""

# Words of Spanish, Portuguese, French, Italian and German, written without accents; each row stands for the English
# word that opens it.
TRANSLATIONS: Final = """
fix            corrige corregir corregido arregla arreglar repara reparar corrija corrigir conserta consertar
fix            conserte arrume arrumar corriger corrigez repare reparer reparez correggi correggere ripara riparare
fix            behebe beheben behebt korrigiere korrigieren repariere reparieren
error          errores fallo fallos erro erros falha falhas erreur erreurs panne errore errori fehler absturz
error          absturze problema probleme
broken         roto rota quebrado quebrada casse cassee rotto kaputt defekt
add            anade anadir agrega agregar adiciona adicionar adicione ajoute ajouter ajoutez aggiungi aggiungere
add            fuge hinzufugen erganze erganzen crear crea cria criar cree creer creare erstelle erstellen
add            implementa implementar implemente implementer implementare implementiere implementieren
feature        funcionalidad funcionalidade fonctionnalite funzionalita funzione funktion
button         boton botao bouton pulsante schaltflache
refactor       refactoriza refactorizar refatora refatorar refatore refactorise refactoriser refactorisez
refactor       rifattorizza rifattorizzare refaktoriere refaktorieren
simplify       simplifica simplificar simplifie simplifier semplifica semplificare vereinfache vereinfachen
clean          limpia limpiar limpa limpar limpe nettoie nettoyer nettoyez pulisci pulire bereinige bereinigen
clean          aufraumen raume
rename         renombra renombrar renomeia renomear renomeie renomme renommer rinomina rinominare umbenennen
rename         benenne
security       seguridad seguranca securite sicurezza sicherheit
vulnerability  vulnerabilidad vulnerabilidades vulnerabilidade vulnerabilidades vulnerabilite vulnerabilites
vulnerability  vulnerabilita sicherheitslucke sicherheitslucken schwachstelle schwachstellen inyeccion injecao
vulnerability  iniezione
password       contrasena contrasenas senha senhas passe passwort passworter
encrypt        cifra cifrar encripta encriptar criptografa criptografar chiffre chiffrer cifrare verschlussele
encrypt        verschlusseln
permission     permiso permisos permissao permissoes permesso permessi berechtigung berechtigungen autenticacion
permission     autenticacao authentification autenticazione authentifizierung
optimise       optimiza optimizar otimiza otimizar otimize optimisez optimiser optimise ottimizza ottimizzare
optimise       optimiere optimieren acelera acelerar acelere accelere accelerer beschleunige beschleunigen
optimise       velocizza velocizzare
performance    rendimiento desempenho performances prestazioni leistung geschwindigkeit
slow           lento lenta lentos lentas lent lente lents langsam langsame langsamer
test           prueba pruebas probar teste testes testar tester testen teste testare
document       documenta documentar documente documenter documentez documentare dokumentiere dokumentieren
documentation  documentacion documentacao documentazione dokumentation
explain        explica explicar explique expliquer spiega spiegare erklare erklaren
deploy         despliega desplegar implanta implantar implante deploie deployer deployez deploiement despliegue
deploy         distribuisci distribuire rilascia rilasciare bereitstellen ausrollen deployen
publish        publica publicar publique publie publier publiez pubblica pubblicare veroffentliche veroffentlichen
production     produccion producao produzione produktion
design         disena disenar projeta projetar projete concevoir concois progetta progettare entwirf entwerfe
design         entwerfen
architecture   arquitectura arquitetura architettura architektur
interface      interfaz interfaccia schnittstelle schnittstellen
debug          depura depurar depure deboguer debogue debugger debuggen
investigate    investiga investigar investigue enquete enqueter indaga indagare untersuche untersuchen analiza
investigate    analizar analisa analisar analyser analizza analizzare analysiere analysieren diagnostica
investigate    diagnostiquer
"""

# Chinese, Japanese, Korean, Russian: no blanks between words, or many endings. These are found inside the text, longest
# first; one with a hyphen must open a word and takes the rest of it along.
STEMS: Final = """
fix            修复 修正 修復 解决 修理 直して 수정 고쳐 고치 исправ- почин- устран-
error          错误 故障 崩溃 エラー バグ 不具合 クラッシュ 오류 버그 에러 크래시 ошибк- баг- сбо- паден-
broken         无法 不能 失败 失敗 動かない できない 壊れ 안되 안돼 실패 слома-
add            添加 增加 新增 实现 创建 追加 実装 作成 추가 구현 만들 добав- реализ- созда-
feature        功能 機能 기능 функци-
refactor       重构 リファクタ 整理 重構 리팩터 리팩토 정리 рефактор- переимен- упрост-
security       安全 セキュリティ 보안 безопасн-
vulnerability  漏洞 注入 脆弱性 インジェクション 취약점 уязвимост-
password       密码 密碼 パスワード 暗号化 加密 비밀번호 암호화 парол- шифр- зашифр-
permission     权限 認証 权証 身份验证 権限 인증 권한 авториз- аутентиф- доступ-
optimise       优化 優化 提升性能 最適化 高速化 최적화 оптимиз- ускор-
performance    性能 パフォーマンス 성능 производительн-
slow           很慢 太慢 缓慢 遅い 느리 느린 медленн-
test           测试 測試 テスト 테스트 тест- протест-
documentation  文档 文件说明 文檔 ドキュメント 文書 説明書 문서 документ-
explain        解释 说明 説明 설명 объясн- опис- опиш-
deploy         部署 发布 上线 デプロイ リリース 公開 배포 릴리스 развер- депло- выпуст- выкат-
production     生产 本番 프로덕션 운영 продакшн- прод
architecture   架构 架構 设计 アーキテクチャ 設計 아키텍처 설계 архитектур- спроектир-
debug          调试 排查 調試 デバッグ 디버그 디버깅 отлад- отлаж-
investigate    调查 诊断 分析 調査 原因 원인 조사 분석 расслед- выясн- диагност-
"""

# Words before a task's own verb: politeness, the asker, helping verbs.
FILLERS: Final = """
please can could would will you we i to need want like should must us just also now kindly hey hi hello ok okay
then next so first finally help me have has d ll s m re im gonna going try quickly carefully properly todo task
por favor bitte il vous plait per favore пожалуйста
"""
# After one of these a verb is surely a verb: "test the ...", "document that ...".
DETERMINERS: Final = """
the a an all this that these those our my your its their his her every each any some no how why what whether
which if both two three and against only
"""
# What follows is about the object, and says less about the task...
PREPOSITIONS: Final = """
in on at for of from during with within inside into across per under over by without through about de que del
des du der en para pour dans auf fur nel sul
"""
# ...until the sentence's own verb: "the widget on the user page does not work".
FINITE_VERBS: Final = """
is are was were does do did has have isn aren wasn doesn don didn can won
"""
# What follows is a clause beside the task's own, to the end of the sentence.
CONJUNCTIONS: Final = """
after before when while between as because since if until where that which who whose whenever once although
"""
