// Reads a schema step (src/store/migrate/steps): which tables it locks, how much of them it reads or writes, and whether
// processes of the previous version can run after it. Pure. It knows the statements that steps use, and reports others.

type TableLock =
  /** Nothing waits for it. */
  | 'none'
  /** Writes to the table wait. */
  | 'writes'
  /** Reads and writes of the table wait. */
  | 'all';

/** `scan` reads every row, `index` also sorts them, and `rewrite` writes them all. */
type TableWork = 'none' | 'scan' | 'index' | 'rewrite';

export interface TableUse {
  readonly table: string;
  readonly lock: TableLock;
  readonly work: TableWork;
}

interface ReadStep {
  /** The comment at the start of the file. */
  readonly about: string;
  /** The tables that the step creates. */
  readonly creates: readonly string[];
  /** The tables that existed before. */
  readonly uses: readonly TableUse[];
  /** Statements that processes of the previous version may not survive, and unknown ones. */
  readonly faults: readonly string[];
  /** The first version that no longer uses what the step removes. Undefined if the step only expands. */
  readonly contracts: string | undefined;
}

interface Statement {
  readonly text: string;
  readonly uses: readonly TableUse[];
  readonly creates?: string;
  readonly fault?: string;
}

const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;|[^;]/g;
const CONTRACTS = /^-- contract: unused since (\d+\.\d+\.\d+)$/m;
/** Statements that lock no table that existed before, or only for a change of the catalog. */
const HARMLESS =
  /^(create (or replace )?(function|view|type)|create sequence|comment on|grant|revoke|insert into|select) /;

export function readStep(text: string): ReadStep {
  const statements = splitStatements(text).map(readStatement);
  const creates = statements.flatMap((statement) => statement.creates ?? []);
  const uses = new Map<string, TableUse>();
  for (const use of statements.flatMap((statement) => statement.uses)) {
    if (creates.includes(use.table)) continue;
    const before = uses.get(use.table);
    uses.set(use.table, before === undefined ? use : heavier(before, use));
  }
  const isOnNew = ({ uses }: Statement) =>
    uses.length > 0 && uses.every(({ table }) => creates.includes(table));
  return {
    about: aboutOf(text),
    creates,
    uses: [...uses.values()],
    faults: statements.flatMap((statement) =>
      statement.fault === undefined || isOnNew(statement) ? [] : `${statement.fault}: ${statement.text}`,
    ),
    contracts: CONTRACTS.exec(text)?.[1],
  };
}

/** Returns the statements without comments, and with empty literals and function bodies. */
function splitStatements(text: string): string[] {
  const statements = [''];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ';') statements.push('');
    else if (!token.startsWith('--') && !token.startsWith('/*'))
      statements[statements.length - 1] += /^['$]./.test(token) ? "''" : token.toLowerCase();
  }
  return statements.map((one) => one.replaceAll(/\s+/g, ' ').trim()).filter((one) => one !== '');
}

function aboutOf(text: string): string {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('-- '));
  return lines
    .slice(0, end < 0 ? undefined : end)
    .map((line) => line.slice(3))
    .filter((line) => !line.startsWith('contract: '))
    .join(' ');
}

function readStatement(text: string): Statement {
  const [, created] = /^create (?:unlogged )?table (?:if not exists )?([\w.]+)/.exec(text) ?? [];
  if (created !== undefined) return { text, creates: created, uses: referenced(text) };
  const [, unique, indexed] = /^create (unique )?index (?:\S+ )*?on (?:only )?([\w.]+)/.exec(text) ?? [];
  if (indexed !== undefined) {
    const uses: TableUse[] = [{ table: indexed, lock: 'writes', work: 'index' }];
    return unique === undefined ? { text, uses } : { text, uses, fault: 'rejects rows of earlier versions' };
  }
  const [, triggered] = /^create (?:or replace )?(?:constraint )?trigger .*? on ([\w.]+)/.exec(text) ?? [];
  if (triggered !== undefined) return { text, uses: [{ table: triggered, lock: 'writes', work: 'none' }] };
  const [, altered, actions = ''] = /^alter table (?:if exists )?(?:only )?([\w.]+) (.*)$/.exec(text) ?? [];
  if (altered !== undefined) return readAlter(text, altered, splitActions(actions));
  const [, locked = '', mode] = /^lock table (?:only )?([\w., ]+) in ([\w ]+) mode$/.exec(text) ?? [];
  if (mode !== undefined) {
    const lock = mode === 'access exclusive' ? 'all' : 'writes';
    return { text, uses: locked.split(', ').map((table) => ({ table, lock, work: 'none' })) };
  }
  const [, written] = /^(?:update|delete from) (?:only )?([\w.]+)/.exec(text) ?? [];
  if (written !== undefined) return { text, uses: [{ table: written, lock: 'none', work: 'rewrite' }] };
  const [, dropped] = /^drop table (?:if exists )?([\w.]+)/.exec(text) ?? [];
  if (dropped !== undefined) {
    return { text, uses: [{ table: dropped, lock: 'all', work: 'none' }], fault: 'removes a table' };
  }
  if (/^drop /.test(text)) return { text, uses: [], fault: 'removes' };
  if (HARMLESS.test(text)) return { text, uses: [] };
  return { text, uses: [], fault: 'unknown statement' };
}

function readAlter(text: string, table: string, actions: readonly string[]): Statement {
  const uses: TableUse[] = [...referenced(text)];
  const faults: string[] = [];
  for (const action of actions) {
    const [work, fault] = readAction(action);
    // Rows can be written while a constraint is validated.
    uses.push({ table, lock: action.startsWith('validate ') ? 'none' : 'all', work });
    if (fault !== undefined) faults.push(fault);
  }
  return { text, uses, ...(faults.length > 0 && { fault: faults.join(', ') }) };
}

/** Returns how much of the table the action reads or writes, and what is wrong with it. */
function readAction(action: string): [TableWork, string?] {
  if (/^add (column )?(?!constraint|check|unique|primary|foreign|exclude)/.test(action)) {
    const isRequired = /\bnot null\b/.test(action) && !/\b(default|generated)\b/.test(action);
    const isComputed = /\bgenerated\b|\bdefault (?!''|null|true|false|-?\d)\w*/.test(action);
    const isUnique = /\b(unique|primary key)\b/.test(action);
    const isScanned = /\b(check|references)\b/.test(action);
    const work = isComputed ? 'rewrite' : isUnique ? 'index' : isScanned ? 'scan' : 'none';
    return isRequired ? [work, 'requires a value that earlier versions do not write'] : [work];
  }
  if (/^add constraint \w+ (check|foreign key)/.test(action) && /not valid$/.test(action)) return ['none'];
  if (/^validate constraint/.test(action)) return ['scan'];
  if (
    /^drop (constraint|not null)|^alter (column )?\w+ (drop not null|set default|drop default)/.test(action)
  )
    return ['none'];
  if (/^(set|reset) \(/.test(action)) return ['none'];
  if (/^alter (column )?\w+ (set data )?type/.test(action))
    return ['rewrite', 'changes the type of a column'];
  if (/^alter (column )?\w+ set not null/.test(action)) return ['scan', 'rejects rows of earlier versions'];
  if (/^add /.test(action)) return ['scan', 'rejects rows of earlier versions, unless it is not valid'];
  if (/^rename/.test(action)) return ['none', 'renames'];
  if (/^drop /.test(action)) return ['none', 'removes a column'];
  return ['scan', 'unknown action'];
}

/** The tables that a foreign key names. Its triggers are created on them too. */
function referenced(text: string): TableUse[] {
  return [...text.matchAll(/\breferences ([\w.]+)/g)].map(([, table = '']) => ({
    table,
    lock: 'writes',
    work: 'none',
  }));
}

/** Splits the actions of `alter table` at commas that are not in parentheses. */
function splitActions(text: string): string[] {
  const actions = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) actions.push('');
    else actions[actions.length - 1] += character;
  }
  return actions.map((action) => action.trim());
}

const LOCKS: readonly TableLock[] = ['none', 'writes', 'all'];
const WORKS: readonly TableWork[] = ['none', 'scan', 'index', 'rewrite'];

function heavier(one: TableUse, other: TableUse): TableUse {
  return {
    table: one.table,
    lock: LOCKS[Math.max(LOCKS.indexOf(one.lock), LOCKS.indexOf(other.lock))] as TableLock,
    work: WORKS[Math.max(WORKS.indexOf(one.work), WORKS.indexOf(other.work))] as TableWork,
  };
}
