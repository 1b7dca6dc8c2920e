// Which statements are prepared: those that a process repeats. Postgres then plans them once for each connection, and
// planning is most of the cost of a small statement. Statements with large arrays are left out: their plans depend on
// the length.

const PREPARED_FROM_USES = 8;
const MAX_PREPARED = 100;
const MAX_KNOWN = 1000;
const MAX_ARRAY_ITEMS = 64;

const known = new Map<string, { uses: number; name: string | undefined }>();
let prepared = 0;
let isPreparing = true;

/** The name under which to send it; undefined: do not prepare it. */
export function preparedName(text: string, values: readonly unknown[]): string | undefined {
  if (!isPreparing || !values.every(isSmall)) return undefined;
  let statement = known.get(text);
  if (statement === undefined) {
    if (known.size >= MAX_KNOWN) return undefined; // lists with filters: many texts, each used now and then
    statement = { uses: 0, name: undefined };
    known.set(text, statement);
  }
  statement.uses++;
  if (statement.name === undefined && statement.uses >= PREPARED_FROM_USES && prepared < MAX_PREPARED) {
    prepared++;
    statement.name = `zonefleet_${prepared}`;
  }
  return statement.name;
}

function isSmall(value: unknown): boolean {
  return !Array.isArray(value) || value.length <= MAX_ARRAY_ITEMS;
}

/**
 * Call it for every statement that failed. Behind a pooler that gives each transaction another connection our
 * statements are unknown, and a changed table can make a plan useless: from then on this process prepares none.
 */
export function notePreparedFailure(error: unknown): void {
  const { code, message } = error as { code?: string; message?: string };
  const isPlanUseless = code === FEATURE_NOT_SUPPORTED && message?.includes('cached plan') === true;
  if (code === UNKNOWN_STATEMENT || code === DUPLICATE_STATEMENT || isPlanUseless) isPreparing = false;
}

const FEATURE_NOT_SUPPORTED = '0A000';
const UNKNOWN_STATEMENT = '26000';
const DUPLICATE_STATEMENT = '42P05';
