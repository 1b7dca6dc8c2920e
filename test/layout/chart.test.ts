// The Helm chart agrees with the code: version, settings and their readers, programs.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROGRAMS } from '../../src/cli/programs.mjs';
import { SETTINGS } from '../../src/process/settings/every-setting.ts';
import type { Reader, Setting } from '../../src/process/settings/setting.ts';
import { filesIn, ROOT } from '../support/tests/sources.ts';

const CHART = 'deploy/helm/zonefleet';
const read = (file: string) => readFileSync(join(ROOT, CHART, file), 'utf8');
/** Names of the chart's processes. */
const PROCESS_OF: Partial<Record<Reader, string>> = {
  nameserver: 'nameserver',
  API: 'api',
  workers: 'workers',
  CLI: 'cli',
};
/** The chart sets these, or a container cannot use them. */
const SET_BY_CHART = new Set([
  ...['DATABASE_URL', 'DATA_DIR', 'METRICS_LISTEN', 'RUN_AS', 'NODE_NAME', 'XDP_INTERFACES', 'CONSOLE_FILES'],
  ...['DNS_LISTEN', 'DOT_LISTEN', 'DOH_LISTEN', 'DOH_PLAIN_LISTEN', 'DNS_TLS_CERT', 'DNS_TLS_KEY'],
  ...['API_LISTEN', 'EDGE_LISTEN', 'EDGE_TLS_CERT', 'EDGE_TLS_KEY'],
]);

/** Documents that name the image or an archive with its version. */
const NAMING_IMAGE = [
  'deploy/compose/compose.yaml',
  'deploy/helm/README.md',
  'docs/operating/install.md',
  'docs/operating/vantage-points.md',
];

it('files/settings.json lists every setting with the processes that read it', () => {
  const rows = (isSecret: boolean) =>
    Object.values<Setting<unknown>>(SETTINGS).flatMap((setting) => {
      const readers = setting.readers.flatMap((reader) => PROCESS_OF[reader] ?? []);
      if (readers.length === 0 || SET_BY_CHART.has(setting.name)) return [];
      return (setting.isSecret ?? false) === isSecret ? [[setting.name, readers] as const] : [];
    });
  expect(JSON.parse(read('files/settings.json'))).toEqual({
    settings: Object.fromEntries(rows(false)),
    secrets: Object.fromEntries(rows(true)),
  });
});

it('has the version of the package, and so has the image in every document', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const chart = parse(read('Chart.yaml'));
  expect([chart.version, chart.appVersion]).toEqual([version, version]);
  for (const file of NAMING_IMAGE) {
    const named = readFileSync(join(ROOT, file), 'utf8').matchAll(/\bzonefleet[:-](\d+\.\d+\.\d+)/g);
    const versions = new Set([...named].map(([, each]) => each));
    expect([file, [...versions]]).toEqual([file, [version]]);
  }
});

it('starts programs that exist', () => {
  const started = filesIn(`${CHART}/templates`).flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return [...text.matchAll(/args: \[run, (\w+)\]/g)].map(([, name]) => name as string);
  });
  expect(started.sort()).toEqual(['api', 'nameserver', 'workers']);
  expect(Object.keys(PROGRAMS)).toEqual(expect.arrayContaining(started));
});
