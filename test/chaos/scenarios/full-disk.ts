// The disk that the records lie on fills up while customers write, and has room again after a while.

import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { lacksSmallDisk, mountSmallDisk } from '../../support/database/small-disk.ts';
import type { Scenario } from '../scenario.ts';
import { DOMAIN, type Stage } from '../stage.ts';

const FULL_MS = 10_000;
const MOST_LINES = 3;
/** What a write of records writes. */
const TABLES = ['records', 'zone_records', 'changes', 'domain_changes'];

export const fullDisk: Scenario = {
  name: 'full-disk',
  attack: `the disk of Postgres is full for ${FULL_MS / 1000} s`,
  stopsEdits: true,
  lacks: lacksSmallDisk,
  async run(stage) {
    const cluster = await ask(stage, "select current_setting('data_directory') as text");
    const disk = mountSmallDisk(cluster, 64);
    try {
      await stage.withDatabase(async (db) => {
        await sql.raw(`create tablespace small location '${disk.tablespace}'`).execute(db);
        for (const table of TABLES) await sql.raw(`alter table ${table} set tablespace small`).execute(db);
      });
      const linesBefore = outageLines(stage);
      disk.fill();
      const endMs = performance.now() + FULL_MS;
      const statuses = new Map<string, number>();
      const count = (what: string) => statuses.set(what, (statuses.get(what) ?? 0) + 1);
      for (let i = 0; performance.now() < endMs; i++) {
        const create = Array.from({ length: 100 }, (_, n) => ({
          name: `full-${i}-${n}`,
          type: 'TXT',
          destination: 'x'.repeat(2000),
        }));
        count(`PUT ${(await stage.call('PUT', `/domains/${DOMAIN}/records/batch`, { create })).status}`);
        count(`GET ${(await stage.call('GET', `/domains/${DOMAIN}`)).status}`);
        await pause(50);
      }
      const ready = await fetch(`${stage.apiUrl}/readyz`);
      const reason = ((await ready.json()) as { error?: string }).error ?? 'ready';
      disk.clear();
      stage.faultEnds();
      const lines = outageLines(stage) - linesBefore;
      const calls = [...statuses].map(([what, times]) => `${what}: ${times}`).join(', ');
      return [
        {
          label: 'calls',
          text: calls,
          isMet: [...statuses.keys()].every((what) => what === 'PUT 503' || what === 'GET 200'),
        },
        { label: '/readyz', text: `${ready.status} ${reason}`, isMet: reason.includes('no disk space') },
        { label: 'lines in the log', text: String(lines), isMet: lines <= MOST_LINES },
      ];
    } finally {
      disk.clear();
      await stage.withDatabase(async (db) => {
        for (const table of TABLES)
          await sql.raw(`alter table ${table} set tablespace pg_default`).execute(db);
        await sql.raw('drop tablespace small').execute(db);
      });
      disk.remove();
    }
  },
};

async function ask(stage: Stage, query: string): Promise<string> {
  return await stage.withDatabase(async (db) => {
    const { rows } = await sql.raw<{ text: string }>(query).execute(db);
    return rows[0]?.text ?? '';
  });
}

function outageLines(stage: Stage): number {
  return stage.log.split('\n').filter((line) => line.includes('53100') || line.includes('no disk space'))
    .length;
}
