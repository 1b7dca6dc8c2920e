// A primary in memory, for refreshes without a network.

import { printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { TransferClient } from '../../../src/features/secondaries/job-refresh.ts';
import { serialIn } from '../../../src/zone/serial.ts';
import type { Difference, TransferResult } from '../../../src/zone/transfer/read-transfer.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { recordsOf } from '../zone/zone-text.ts';

type Failure = Extract<TransferResult, { kind: 'failed' }>;
export const failure = (code: Failure['code']): Failure => ({
  kind: 'failed',
  code,
  message: `it failed: ${code}`,
});

/** A primary with all versions that it ever had. */
export class Primary implements TransferClient {
  readonly #zone: string;
  readonly versions: ZoneRecord[][] = [];
  readonly asked: string[] = [];
  /** The TLS settings of the last SOA query. */
  tls: unknown;
  soa: Failure | undefined;
  ixfr: Failure | ((differences: Difference[]) => Difference[]) | 'zone' | undefined;
  axfr: Failure | undefined;
  onTransfer: () => Promise<unknown> = async () => {};

  /** @param zone with the final dot */
  constructor(zone: string) {
    this.#zone = zone;
  }

  publish(
    serial: number,
    text: string,
    sign: (records: ZoneRecord[]) => ZoneRecord[] = (records) => records,
  ) {
    const records = recordsOf(`@ 60 SOA ns h ${serial} 3600 600 86400 60\n@ 60 NS ns\n${text}`, this.#zone);
    this.versions.push(sign(records));
  }

  get #now(): ZoneRecord[] {
    return this.versions.at(-1) as ZoneRecord[];
  }

  async querySoa(primary: { address: string; key: unknown; tls?: unknown }) {
    this.tls = primary.tls;
    this.asked.push(`soa ${primary.address}${primary.key === undefined ? '' : ' signed'}`);
    const rdata = this.#now[0]!.rdata;
    return this.soa ?? ({ kind: 'soa', serial: serialIn(rdata), rdata } as const);
  }

  async transferZone(
    _: unknown,
    { form, serial }: { form: string; serial: number | undefined },
  ): Promise<TransferResult> {
    this.asked.push(form);
    await this.onTransfer();
    const end = serialIn(this.#now[0]!.rdata);
    const whole = { kind: 'zone', serial: end, dropped: 0, records: this.#now } as const;
    if (form === 'axfr') return this.axfr ?? whole;
    if (this.ixfr === 'zone') return whole;
    if (typeof this.ixfr === 'object') return this.ixfr;
    const from = this.versions.findIndex((records) => serialIn(records[0]!.rdata) === serial);
    const steps = this.versions
      .slice(from, -1)
      .map((before, i) => differenceOf(before, this.versions[from + i + 1]!));
    return { kind: 'differences', serial: end, dropped: 0, differences: this.ixfr?.(steps) ?? steps };
  }
}

function differenceOf(before: readonly ZoneRecord[], after: readonly ZoneRecord[]): Difference {
  const key = (record: ZoneRecord) => linesOf([record])[0] as string;
  const [had, has] = [before, after].map((records) => new Set(records.map(key)));
  return {
    serialBefore: serialIn(before[0]!.rdata),
    serialAfter: serialIn(after[0]!.rdata),
    removed: before.filter((record, i) => i === 0 || !has!.has(key(record))),
    added: after.filter((record, i) => i === 0 || !had!.has(key(record))),
  };
}

export function linesOf(records: readonly ZoneRecord[]): string[] {
  return records
    .map(
      ({ owner, type, ttl, rdata }) =>
        `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${type === 0 ? '' : printRdata(type, rdata)}`,
    )
    .sort();
}
