// The benchmark's interface to an HTTP API: a zone of many records is written, and read again.

export interface ZoneRecord {
  readonly name: string;
  readonly type: 'A' | 'CNAME' | 'TXT';
  readonly content: string;
}

/** A call that is made again and again. */
export interface RepeatedCall {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. `WORD` in it represents a word that no other call has. */
  readonly body?: string;
}

/** Text that autocannon replaces in each body. */
export const WORD = '[<id>]';

export interface ApiUnderTest {
  readonly label: string;
  /** Creates the zone with all of its records. Returns the milliseconds of the bulk of the work. */
  load(zone: string, records: readonly ZoneRecord[]): Promise<number>;
  /** Reads all records. */
  list(zone: string): Promise<void>;
  exportZone(zone: string): Promise<void>;
  /** At most 100 records that have the word. */
  search(zone: string, word: string): Promise<void>;
  create(zone: string, record: ZoneRecord): Promise<void>;
  /** Reads all records; creates a record with a new name. */
  repeated(zone: string): { readonly list: RepeatedCall; readonly create: RepeatedCall };
  stop(): Promise<void>;
}

/** Throws with the answer unless it is a success. The body is read to its end, not compressed: PowerDNS does not compress. */
export async function call(
  url: string,
  { headers, method = 'GET', body }: { headers: Record<string, string>; method?: string; body?: unknown },
): Promise<string> {
  const response = await fetch(url, {
    method,
    headers: {
      'accept-encoding': 'identity',
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

export async function untilAnswers(
  url: string,
  headers: Record<string, string>,
  check: () => void,
): Promise<void> {
  for (;;) {
    check();
    const isThere = await call(url, { headers }).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await new Promise((done) => setTimeout(done, 50));
  }
}
