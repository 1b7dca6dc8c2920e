// Collects what this node reports about its peers, until it is written to Postgres. Only the newest values of each
// zone and peer are kept. While Postgres is unavailable, the oldest pairs are dropped.

import type { TransferForm, TransferReport } from '../../store/transfers/report-transfers.ts';

const MOST_PAIRS = 20_000;
const MOST_KEYS = 10_000;

type Values = { -readonly [Key in keyof TransferReport]: TransferReport[Key] };

export class TransferReports {
  /** Number of pairs that were dropped. */
  dropped = 0;
  readonly #pairs = new Map<string, Values>();
  readonly #usedKeys = new Set<number>();

  /** Records that the peer was sent NOTIFY. */
  notified(zoneId: number, peerId: number, serial: number): void {
    Object.assign(this.#pairOf(zoneId, peerId), { notifiedSerial: serial, ackedAt: null, error: null });
  }

  /** Records that the peer has answered NOTIFY. `error` describes an answer that is not NOERROR. */
  acked(zoneId: number, peerId: number, serial: number, error: string | null): void {
    Object.assign(this.#pairOf(zoneId, peerId), { notifiedSerial: serial, ackedAt: new Date(), error });
  }

  /** Records that a NOTIFY or a transfer failed. */
  failed(zoneId: number, peerId: number, error: string): void {
    this.#pairOf(zoneId, peerId).error = error;
  }

  /** Records that the peer has this serial. */
  served(zoneId: number, peerId: number, serial: number, form: TransferForm): void {
    const served = { servedSerial: serial, servedAt: new Date(), form, error: null };
    Object.assign(this.#pairOf(zoneId, peerId), served);
  }

  /** Records that a message signed with this key was accepted. */
  keyUsed(keyId: number): void {
    if (this.#usedKeys.size < MOST_KEYS) this.#usedKeys.add(keyId);
  }

  /** Removes and returns the reports, oldest first, and the used keys. */
  take(): { reports: TransferReport[]; usedKeys: number[] } {
    const taken = { reports: [...this.#pairs.values()], usedKeys: [...this.#usedKeys] };
    this.#pairs.clear();
    this.#usedKeys.clear();
    return taken;
  }

  /** Restores reports that were not written, except for values that are known to be newer. */
  putBack(reports: readonly TransferReport[]): void {
    const newer = [...this.#pairs.values()];
    this.#pairs.clear();
    for (const report of [...reports, ...newer]) {
      const values = this.#pairOf(report.zoneId, report.peerId);
      if (report.notifiedSerial !== null)
        Object.assign(values, { notifiedSerial: report.notifiedSerial, ackedAt: report.ackedAt });
      if (report.servedSerial !== null) {
        const { servedSerial, servedAt, form } = report;
        Object.assign(values, { servedSerial, servedAt, form });
      }
      values.error = report.error;
    }
  }

  /** Returns the values of the pair, which is now the newest. */
  #pairOf(zoneId: number, peerId: number): Values {
    const key = `${zoneId} ${peerId}`;
    let values = this.#pairs.get(key);
    if (values === undefined) {
      values = {
        zoneId,
        peerId,
        notifiedSerial: null,
        ackedAt: null,
        servedSerial: null,
        servedAt: null,
        form: null,
        error: null,
      };
      if (this.#pairs.size >= MOST_PAIRS) this.#dropOldest();
    }
    this.#pairs.delete(key);
    this.#pairs.set(key, values);
    return values;
  }

  #dropOldest(): void {
    for (const key of this.#pairs.keys()) {
      this.#pairs.delete(key);
      this.dropped++;
      return;
    }
  }
}
