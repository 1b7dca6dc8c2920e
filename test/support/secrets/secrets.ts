// The secrets of a test, and a search for them in texts: unchanged, in base64, in hex, or escaped for URLs, JSON and SQL.

import { spawnSync } from 'node:child_process';

export class Secrets {
  readonly #byForm = new Map<string, string>();
  readonly #known = new Set<string>();

  get count(): number {
    return this.#known.size;
  }

  keep(name: string, secret: string): string {
    if (secret.length < 8) throw new Error(`${name}: too short to be told from chance`);
    if (this.#known.has(secret)) return secret;
    const what = `${name} ${this.#known.add(secret).size}`;
    for (const [how, form] of formsOf(secret)) this.#byForm.set(form, `${what} ${how}`);
    return secret;
  }

  /** Octets that are not a text. */
  keepOctets(name: string, octets: Uint8Array): void {
    for (const [how, form] of encodingsOf(Buffer.from(octets))) this.#byForm.set(form, `${name} ${how}`);
  }

  /** Returns the secrets in the text, with their format. */
  findIn(text: string): string[] {
    return [...this.#byForm].flatMap(([form, what]) => (text.includes(form) ? [what] : []));
  }

  /** Returns the files below the directory that contain a secret. */
  filesWith(folder: string): string[] {
    // Through standard input, because process arguments are public.
    const input = [...this.#byForm.keys()].filter((form) => !form.includes('\n')).join('\n');
    const { stdout, stderr, status } = spawnSync('grep', ['-raFl', '-f', '-', '--', folder], {
      input,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      env: { ...process.env, LC_ALL: 'C' },
    });
    // Files that no longer exist when they are read are reported as errors.
    if (status !== 0 && status !== 1 && !/No such file/.test(stderr)) throw new Error(stderr);
    return stdout.split('\n').filter(Boolean).sort();
  }
}

function formsOf(secret: string): [how: string, form: string][] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inUrl = encodeURIComponent(secret);
  return [
    ['as it is', secret],
    ['in JSON', inJson],
    ['in JSON in JSON', JSON.stringify(inJson).slice(1, -1)],
    ['in a URL', inUrl],
    ['in a form', inUrl.replaceAll('%20', '+')],
    ['in SQL', secret.replaceAll("'", "''")],
    ...encodingsOf(Buffer.from(secret)),
  ];
}

function encodingsOf(octets: Buffer): [how: string, form: string][] {
  return [
    ['in hex', octets.toString('hex')],
    ['in upper-case hex', octets.toString('hex').toUpperCase()],
    // The preceding octets determine which of three base64 texts it has; the characters at both ends also depend on neighbours.
    ...[0, 1, 2].flatMap((before): [string, string][] => {
      const whole = Buffer.concat([Buffer.alloc(before), octets]);
      const own = whole.subarray(before === 0 ? 0 : 3, whole.length - (whole.length % 3));
      return [
        [`in base64 behind ${before}`, own.toString('base64')],
        [`in base64url behind ${before}`, own.toString('base64url')],
      ];
    }),
  ];
}
