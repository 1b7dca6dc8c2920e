// The alert rules and dashboards in deploy, the page that describes the alerts, and the tests that cause them, agree.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dashboardTexts } from '../../deploy/grafana/make-dashboards.mjs';
import { filesIn, ROOT } from '../support/tests/sources.ts';
import { metricsIn } from '../support/watching/metrics-in.ts';
import { rulesIn } from '../support/watching/scaled-rules.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const rules = rulesIn(read('deploy/prometheus/zonefleet-rules.yml'));
const alerts = rulesIn(read('deploy/prometheus/zonefleet-alerts.yml'));
const names = alerts.map(({ alert }) => alert as string);

it('every alert has a severity, a summary, and the link to its section of the page about alerts', () => {
  for (const { alert = '', labels, annotations } of alerts) {
    expect(labels?.severity, alert).toMatch(/^(critical|warning)$/);
    expect(annotations?.summary, alert).toBeTruthy();
    expect(annotations?.runbook_url).toBe(`docs/operating/alerts.md#${alert.toLowerCase()}`);
  }
  expect(new Set(names).size).toBe(names.length);
});

it('the page about alerts has a section for each alert, and no others', () => {
  const sections = [...read('docs/operating/alerts.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual(names);
});

it('a test causes each alert', () => {
  const tests = filesIn('test/flows/alerts').map(read).join('\n');
  expect(names.filter((name) => !tests.includes(`'${name}'`))).toEqual([]);
});

it('the dashboards are those that the script makes', () => {
  const made = dashboardTexts();
  const files = filesIn('deploy/grafana/dashboards');
  expect(Object.fromEntries(files.map((path) => [path.split('/').at(-1), read(path)]))).toEqual(made);
});

it('the code has every metric that rules and dashboards name, and rules record the others', () => {
  const code = ['src', 'workers']
    .flatMap(filesIn)
    .filter((path) => path.endsWith('.ts'))
    .map(read)
    .join('\n');
  const recorded = new Set(rules.map(({ record }) => record));
  const used = [...rules, ...alerts].map(({ expr }) => expr);
  for (const text of Object.values(dashboardTexts()))
    for (const [, expr] of text.matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g)) used.push(JSON.parse(`"${expr}"`));
  const unknown = used
    .flatMap(metricsIn)
    .filter(
      (name) => !recorded.has(name) && !new RegExp(`'${name.replace(/_(bucket|count)$/, '')}'`).test(code),
    );
  expect(unknown).toEqual([]);
});
