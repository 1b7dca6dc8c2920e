// Runs the commands of docs/api.md, docs/admin-api.md and docs/reseller.md against a first `npm start` (for resellers against the
// demo, which has a registrar), and compares the responses with those in the documents.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/peers/peers.ts';
import { FreshClone, type StartedClone } from '../support/processes/fresh-clone.ts';

// Parses a document with commands and their output into steps that a test can run. In the expected output, `…` omits text,
// and ids and serials of three or more digits represent the actual ones, also in later commands.

interface Step {
  readonly line: number;
  readonly command: string;
  readonly answer: { readonly form: 'json' | 'http' | 'text'; readonly text: string } | undefined;
}

/** Returns each `sh` block with the following block of another kind. */
function readTour(markdown: string): Step[] {
  const steps: Step[] = [];
  for (const { 0: whole, 1: form = '', 2: text = '', index } of markdown.matchAll(
    /^```(\w*)\n([\s\S]*?)^```$/gm,
  )) {
    const line = markdown.slice(0, index).split('\n').length;
    if (form === 'sh') steps.push({ line, command: text.trim(), answer: undefined });
    else if (form === 'json' || form === 'http' || form === 'text') {
      const step = steps.pop();
      if (step === undefined || step.answer !== undefined)
        throw new Error(`line ${line}: the answer to what?`);
      steps.push({ ...step, answer: { form, text: text.trim() } });
    } else if (form !== '') throw new Error(`line ${line}: ${whole.slice(0, 20)} is no kind of block here`);
  }
  return steps;
}

const LEFT_OUT = '…';
const ID_NAMES = new Set([
  ...['id', 'change_id', 'domain_id', 'user_id', 'client_id', 'tsig_key', 'reverts', 'x-change-id'],
  ...['serial', 'x-zone-serial'],
]);
const FIRST_BOUND_ID = 10;

class Walk {
  /** Maps the document's ids to the actual ones. */
  readonly #ids = new Map<number, number>();

  commandOf({ command }: Step): string {
    return command.replaceAll(/\b\d{3,}\b/g, (digits) => String(this.#ids.get(Number(digits)) ?? digits));
  }

  differences({ answer }: Step, came: string): string[] {
    if (answer === undefined) return [];
    switch (answer.form) {
      case 'text':
        return isShown(answer.text, came.trim()) ? [] : [`${came.trim()} is not ${answer.text}`];
      case 'json':
        return this.#compare('answer', readShown(answer.text), JSON.parse(came));
      case 'http':
        return this.#compareHttp(answer.text, came);
      default:
        return answer.form satisfies never;
    }
  }

  #compareHttp(shown: string, came: string): string[] {
    const [wanted, body] = cutHead(shown);
    const [head, text] = cutHead(came);
    const headers = new Map(head.slice(1).map(readHeader));
    const found = wanted[0] === head[0] ? [] : [`${head[0]} is not ${wanted[0]}: ${text}`];
    for (const [name, value] of wanted.slice(1).map(readHeader)) {
      const actual = headers.get(name);
      if (ID_NAMES.has(name)) found.push(...this.#bind(name, Number(value), Number(actual)));
      else if (actual !== value) found.push(`${name}: ${actual} is not ${value}`);
    }
    return [...found, ...this.#compare('answer', readShown(body), JSON.parse(text))];
  }

  #compare(at: string, shown: unknown, came: unknown): string[] {
    if (Array.isArray(shown)) {
      if (!Array.isArray(came)) return [`${at} is no list`];
      const items = shown.filter((item) => item !== LEFT_OUT);
      const fits = items.length === shown.length ? came.length === items.length : came.length >= items.length;
      if (!fits) return [`${at} has ${came.length} items`];
      return items.flatMap((item, i) => this.#compare(`${at}[${i}]`, item, came[i]));
    }
    if (typeof shown === 'object' && shown !== null) {
      if (typeof came !== 'object' || came === null) return [`${at} is no object`];
      const members = came as Record<string, unknown>;
      const found = Object.entries(shown).flatMap(([name, value]) => {
        if (name === LEFT_OUT) return [];
        if (typeof value === 'number' && ID_NAMES.has(name))
          return this.#bind(`${at}.${name}`, value, members[name]);
        return this.#compare(`${at}.${name}`, value, members[name]);
      });
      const more = LEFT_OUT in shown ? [] : Object.keys(members).filter((name) => !(name in shown));
      return [...found, ...more.map((name) => `${at}.${name} is not shown`)];
    }
    return shown === came ? [] : [`${at}: ${JSON.stringify(came)} is not ${JSON.stringify(shown)}`];
  }

  #bind(at: string, shown: number, came: unknown): string[] {
    if (typeof came !== 'number' || !Number.isSafeInteger(came)) return [`${at}: ${came} is no id`];
    if (shown < FIRST_BOUND_ID) return shown === came ? [] : [`${at}: ${came} is not ${shown}`];
    const bound = this.#ids.get(shown);
    if (bound === undefined) this.#ids.set(shown, came);
    return bound === undefined || bound === came ? [] : [`${at}: ${came}, but ${shown} was ${bound} before`];
  }
}

/** True if a text matches the document, in which `…` replaces variable text within a line. */
function isShown(shown: string, came: string): boolean {
  const parts = shown.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.+?')}$`).test(came);
}

function readShown(text: string): unknown {
  return JSON.parse(
    text.replaceAll(/…(\s*[\]}])/g, (_, end: string) => {
      return `"${LEFT_OUT}"${end.trim() === '}' ? ': 0' : ''}${end}`;
    }),
  );
}

function cutHead(text: string): [head: string[], body: string] {
  const [head = '', ...body] = text.replaceAll('\r\n', '\n').split('\n\n');
  return [head.split('\n').map((line) => line.trim()), body.join('\n\n')];
}

function readHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

const run = promisify(execFile);
const DOCUMENTS = [
  ['docs/api.md docs/admin-api.md', 20, { ALLOW_RESERVED_NAMES: 'on' }, []],
  ['docs/reseller.md', 20, { ROOT_HINTS: '' }, ['--demo']],
] as const;
const missing = ['curl', 'dig', 'bash'].filter((program) => !isInstalled(program));
const skipped = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

describe.skipIf(process.platform !== 'linux' || skipped !== '').each(DOCUMENTS)(
  `the tour in %s${skipped}`,
  (documents, fewest, environment, words) => {
    const steps = documents
      .split(' ')
      .flatMap((path) => readTour(readFileSync(join(import.meta.dirname, '../..', path), 'utf8')));
    const walk = new Walk();
    const variables: Record<string, string> = {};
    let clone: FreshClone;
    let started: StartedClone;

    beforeAll(async () => {
      clone = await FreshClone.make();
      started = clone.start(environment, words);
      await started.ready();
      variables.API =
        / {2}API {7}(http:\S+) \(description: \/openapi\.yaml\)$/m.exec(started.output)?.[1] ?? '';
      const registrar = /^ {2}registrar (http:\S+)/m.exec(started.output)?.[1];
      if (registrar !== undefined) variables.REGISTRAR = registrar;
      variables.KEY =
        / {2}API key {3}(svc_\w{40}) \(of a global admin; shown only once\)$/m.exec(started.output)?.[1] ??
        '';
    });
    afterAll(async () => {
      started?.npm.kill('SIGTERM');
      await started?.ended;
      await clone?.remove();
    });

    async function answerTo(step: Step): Promise<string> {
      const command = walk
        .commandOf(step)
        .replaceAll('-p 5300 ', `-p ${clone.dnsPort} `)
        .replaceAll('npx zonefleet ', 'node src/cli/zonefleet.mjs ');
      const [, assigned] = /^([A-Z]+)=/.exec(command) ?? [];
      const script = assigned === undefined ? command : `${command}\nprintf %s "$${assigned}"`;
      const { stdout } = await run('bash', ['-euc', script], {
        cwd: clone.directory,
        env: { ...clone.environment, ...variables },
        timeout: 30_000,
      });
      if (assigned !== undefined) variables[assigned] = stdout;
      return stdout;
    }

    it('has the required address and key', () => {
      expect(variables).toEqual({
        API: expect.stringMatching(/^http:/),
        KEY: expect.stringMatching(/^svc_/),
        ...(words.length > 0 && { REGISTRAR: expect.stringMatching(/^http:/) }),
      });
      expect(steps.length).toBeGreaterThan(fewest);
    });

    // In the order of the document, because each command builds on the earlier ones.
    it.each(
      steps.map((step): [number, string, Step] => [step.line, step.command.split('\n')[0] ?? '', step]),
    )('line %i: %s', async (_line, _command, step) => {
      expect(walk.differences(step, await answerTo(step))).toEqual([]);
    });
  },
);
