// The newest requests, one by one.

import { ASKED_HOST, type AskedRequests, type Asking, ask, conditionOf, valuesOf } from './asked-requests.ts';

interface RequestLine {
  readonly at: Date;
  readonly host: string;
  readonly method: string;
  readonly uri: string;
  /** 0: none. */
  readonly status: number;
  readonly octets: number;
  readonly ms: number;
  readonly client: string;
  readonly cache: string;
  /** 0: none. */
  readonly rule: number;
  /** Empty: none. */
  readonly reason: string;
  readonly websocket: boolean;
}

type Row = Omit<RequestLine, 'at' | 'host' | 'octets' | 'websocket'> & {
  readonly moment: number | string;
  readonly name: string;
  readonly sent: number | string;
  readonly upgraded: number;
};

export async function loadLines(asking: Asking, asked: AskedRequests, limit: number): Promise<RequestLine[]> {
  const rows = await ask<Row>(
    asking,
    `select toUnixTimestamp64Milli(at) as moment, ${ASKED_HOST} as name, method, uri, status, octets as sent, ms, client, cache, rule,
       reason, toUInt8(websocket) as upgraded
     from requests where ${conditionOf('requests', asked)} order by at desc limit {limit:UInt32}`,
    { ...valuesOf(asked), limit },
  );
  return rows.map(({ moment, name, sent, upgraded, ...line }) => ({
    ...line,
    host: name,
    at: new Date(Number(moment)),
    octets: Number(sent),
    websocket: upgraded === 1,
  }));
}
