import { expect, test } from 'vitest';
import { TransferReports } from '../../../src/nameserver/transfer/transfer-reports.ts';

const NONE = {
  notifiedSerial: null,
  ackedAt: null,
  servedSerial: null,
  servedAt: null,
  form: null,
  error: null,
};
const aDate: Date = expect.any(Date);

test('keeps the newest values of each zone and peer until they are taken', () => {
  const reports = new TransferReports();
  reports.notified(1, 7, 100);
  reports.acked(1, 7, 100, 'REFUSED');
  reports.served(1, 8, 99, 'soa');
  reports.failed(2, 8, 'no answer');
  reports.served(1, 7, 100, 'ixfr');
  for (const keyId of [3, 3, 4]) reports.keyUsed(keyId);
  expect(reports.take()).toEqual({
    reports: [
      { ...NONE, zoneId: 1, peerId: 8, servedSerial: 99, servedAt: aDate, form: 'soa' },
      { ...NONE, zoneId: 2, peerId: 8, error: 'no answer' },
      {
        ...{ zoneId: 1, peerId: 7, notifiedSerial: 100, ackedAt: aDate },
        ...{ servedSerial: 100, servedAt: aDate, form: 'ixfr', error: null },
      },
    ],
    usedKeys: [3, 4],
  });
  expect(reports.take()).toEqual({ reports: [], usedKeys: [] });
});

test('does not replace newer values by those that are put back', () => {
  const reports = new TransferReports();
  reports.notified(1, 7, 100);
  reports.acked(1, 7, 100, null);
  reports.served(1, 7, 99, 'axfr');
  const { reports: unwritten } = reports.take();
  reports.notified(1, 7, 101);
  reports.putBack(unwritten);
  const [kept] = reports.take().reports;
  expect(kept).toMatchObject({ notifiedSerial: 101, ackedAt: null, servedSerial: 99, form: 'axfr' });
});

test('drops the oldest of more than 20,000 pairs', () => {
  const reports = new TransferReports();
  for (let zoneId = 0; zoneId < 20_010; zoneId++) reports.failed(zoneId, 7, 'no answer');
  const taken = reports.take();
  expect(taken.reports.length).toBe(20_000);
  expect(taken.reports[0]?.zoneId).toBe(10);
  expect(reports.dropped).toBe(10);
});
