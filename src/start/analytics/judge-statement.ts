// Decides which statements reach the embedded engine. The engine has no restrictions: arbitrary SQL could read and write
// files of this machine and request URLs. So only statements that the analytics store needs are allowed, without any
// external access.

import { Refusal } from './refusal.ts';
import { readTokens } from './tokens.ts';

export interface Statement {
  /** `rows`: an INSERT whose rows are in the body. `write`: any other change. */
  readonly kind: 'select' | 'rows' | 'write';
  /** Settings are inserted between these two parts. */
  readonly before: string;
  readonly after: string;
}

/** Table functions that generate their rows. */
const HARMLESS = 'numbers numbers_mt zeros zeros_mt generateseries generate_series values view'.split(' ');
/** Functions that read files, but are not table functions. */
const READING = ['file', 'catboostevaluate'];
/** Keywords for files, other servers, disks, or settings other than the permitted ones. */
const FORBIDDEN =
  'OUTFILE INFILE SETTINGS DISK STORAGE_POLICY VOLUME ATTACH DETACH FREEZE UNFREEZE FETCH BACKUP RESTORE DICTIONARY DEFINER'.split(
    ' ',
  );
const IN_TABLES = ['SETTINGS']; // of a new table: only the following ones
const TABLE_SETTINGS =
  'non_replicated_deduplication_window fsync_after_insert fsync_part_directory ttl_only_drop_parts index_granularity'.split(
    ' ',
  );

const ROWS = /^\s*(INSERT\s+INTO\s+[A-Za-z_]\w*(?:\s*\([\w\s,]*\))?)\s+(FORMAT\s+JSONEachRow)\s*$/i;
const FILLED = /^\s*(INSERT\s+INTO\s+[A-Za-z_]\w*(?:\s*\([\w\s,]*\))?)(\s+(?:SELECT|WITH)\b[\s\S]*)$/i;
const SELECT = /^\s*(?:SELECT|WITH)\b/i;
const SCHEMA =
  /^\s*(?:CREATE\s+(?:TABLE|MATERIALIZED\s+VIEW|VIEW)|ALTER\s+TABLE|DROP\s+(?:TABLE|VIEW)|TRUNCATE\s+TABLE|OPTIMIZE\s+TABLE)\b/i;
const FORMATTED = /\s+FORMAT\s+JSONEachRow\s*$/i;

/** `sources`: names of the engine's table functions in lower case. */
export function judgeStatement(text: string, sources: ReadonlySet<string>): Statement {
  const rows = ROWS.exec(text);
  if (rows !== null) return { kind: 'rows', before: rows[1] as string, after: `${rows[2]}\n` };
  const isSelect = SELECT.test(text);
  const isFilled = FILLED.test(text);
  if (!isSelect && !isFilled && !SCHEMA.test(text))
    throw new Refusal(
      'ACCESS_DENIED',
      `statement ${JSON.stringify(text.trim().slice(0, 40))} is not allowed`,
    );
  const plain = text.replace(FORMATTED, '');
  judgeWords(plain, sources, !isSelect && !isFilled);
  if (isSelect) return { kind: 'select', before: `${plain}\nFORMAT JSONEachRow`, after: '' };
  const [, before = plain, after = ''] = (isFilled ? FILLED.exec(plain) : null) ?? [];
  return { kind: 'write', before, after };
}

function judgeWords(text: string, sources: ReadonlySet<string>, isSchema: boolean): void {
  const tokens = readTokens(text).filter(({ kind }) => kind !== 'space');
  const no = (word: string) => new Refusal('ACCESS_DENIED', `${word} is not allowed`);
  for (const [index, { kind, text: word }] of tokens.entries()) {
    const next = tokens[index + 1]?.text;
    if (word === ';' || kind === 'place') throw no(word);
    if (kind !== 'word') continue;
    const upper = word.toUpperCase();
    const name = word.toLowerCase();
    if (FORBIDDEN.includes(upper) && !(isSchema && IN_TABLES.includes(upper))) throw no(word);
    if (upper === 'FORMAT' && next !== '(') throw no(word);
    if (name === 'default' && next === '.') throw no('default.'); // in this database, names are files
    if (next === '(' && (READING.includes(name) || (sources.has(name) && !HARMLESS.includes(name))))
      throw no(`${word}()`);
    if (upper === 'ENGINE') judgeEngine(next === '=' ? tokens[index + 2]?.text : next);
    if (upper === 'SETTINGS') judgeTableSettings(tokens.slice(index + 1).map((token) => token.text));
  }
}

/** Other table engines read files and URLs, or connect to servers. */
function judgeEngine(name: string | undefined): void {
  if (!/^(Replacing|Summing|Aggregating|Collapsing)?MergeTree$/.test(name ?? ''))
    throw new Refusal('ACCESS_DENIED', `table engine ${name} is not allowed`);
}

/** Allows only `name = number` up to the end. */
function judgeTableSettings(words: readonly string[]): void {
  for (let at = 0; at < words.length; at += 4) {
    const [name = '', equals, value = '', comma = ','] = words.slice(at, at + 4);
    if (!TABLE_SETTINGS.includes(name) || equals !== '=' || !/^\d+$/.test(value) || comma !== ',')
      throw new Refusal('ACCESS_DENIED', `table setting ${name} is not allowed`);
  }
}
