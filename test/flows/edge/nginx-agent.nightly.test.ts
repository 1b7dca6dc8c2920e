// The parts of the agent that need no nginx: stored configs, addresses, expressions, rejected files.

import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DomainFiles } from '../../../agent/apply-files.mjs';
import { EdgeClient } from '../../../agent/edge-client.mjs';
import { listOf, mayConnect } from '../../../agent/judge-address.mjs';
import { KeptCertificates } from '../../../agent/keep-certificates.mjs';
import { KeptConfigs } from '../../../agent/kept-configs.mjs';
import { above } from '../../../agent/nginx/cache.mjs';
import { Unwritable } from '../../../agent/nginx/quote.mjs';
import { translateRegex } from '../../../agent/nginx/regex.mjs';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { madeConfig } from '../../support/edge/made-config.ts';
import { certificateOf } from '../../support/edge/told-certificate.ts';
import { collectGarbage } from '../../support/tests/heap-octets.ts';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'zonefleet-kept-'));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

describe('stored configs', () => {
  const line = (domain: string, version: number, cursor: string, isServed = true) => ({
    cursor,
    domain,
    version,
    config: isServed ? madeConfig(domain, {}) : null,
  });

  it('survive the agent, with the cursor to resume from', () => {
    const kept = new KeptConfigs(state);
    expect(kept.take(line('a.example', 1, 'c1'))).toEqual(['a.example']);
    expect(kept.take({ cursor: 'c2' })).toEqual([]);
    const again = new KeptConfigs(state);
    expect([again.cursor, again.domains()]).toEqual(['c2', ['a.example']]);
  });

  it('accept the newest version, even if the domain is deleted', () => {
    const kept = new KeptConfigs(state);
    kept.take(line('a.example', 5, 'c1', false));
    expect(kept.take(line('a.example', 4, 'c2'))).toEqual([]);
    expect(kept.domains()).toEqual([]);
    expect(readdirSync(join(state, 'configs'))).toEqual([]); // files of former names would fill the disk
    expect(kept.take(line('a.example', 6, 'c3'))).toEqual(['a.example']);
  });

  it('accept a version only once', () => {
    const kept = new KeptConfigs(state);
    kept.take(line('a.example', 5, 'c5'));
    expect(kept.take(line('a.example', 5, 'c6'))).toEqual([]);
    kept.take({ cursor: 'c7', snapshot: 'begin' });
    expect(kept.take(line('a.example', 5, 'c7'))).toEqual([]);
    expect(kept.take({ cursor: 'c9', snapshot: 'end' })).toEqual([]);
  });

  it('accept all of a snapshot, as after a restore of the database or a change of the edge’s region', () => {
    const kept = new KeptConfigs(state);
    kept.take(line('a.example', 5, 'c5'));
    kept.take(line('b.example', 6, 'c6', false));
    kept.take(line('c.example', 7, 'c7'));
    kept.take({ cursor: 'c0', snapshot: 'begin' });
    expect(
      kept.take({ ...line('a.example', 2, 'c2'), config: madeConfig('a.example', { domain_id: 2 }) }),
    ).toEqual(['a.example']);
    expect(kept.take(line('a.example', 1, 'c1'))).toEqual([]);
    expect(kept.take(line('b.example', 6, 'c6'))).toEqual(['b.example']);
    expect(kept.cursor).toBe('c7'); // until the snapshot is complete
    expect(kept.take({ cursor: 'c9', snapshot: 'end' })).toEqual(['c.example']);
    expect([kept.get('a.example')?.domain_id, kept.domains(), kept.cursor]).toEqual([
      2,
      ['a.example', 'b.example'],
      'c9',
    ]);
  });

  it('drop configs that the snapshot lacks, and keep the former cursor until its end', () => {
    const kept = new KeptConfigs(state);
    for (const each of [line('a.example', 1, 'c1'), line('b.example', 1, 'c2')]) kept.take(each);
    kept.take({ cursor: 'c3', snapshot: 'begin' });
    kept.take(line('b.example', 1, 'c3'));
    expect(new KeptConfigs(state).cursor).toBe('c2');
    kept.forgetSnapshot(); // the snapshot broke off: nothing is dropped
    expect(kept.domains()).toEqual(['a.example', 'b.example']);
    kept.take({ cursor: 'c4', snapshot: 'begin' });
    kept.take(line('b.example', 1, 'c4'));
    expect(kept.take({ cursor: 'c5', snapshot: 'end' })).toEqual(['a.example']);
    const again = new KeptConfigs(state);
    expect([again.cursor, again.domains()]).toEqual(['c5', ['b.example']]);
  });

  it('request everything if a file cannot be read', () => {
    new KeptConfigs(state).take(line('a.example', 1, 'c1'));
    writeFileSync(join(state, 'configs/a.example.json'), '{"domain":');
    expect(new KeptConfigs(state).cursor).toBeUndefined();
  });

  it('reject names that lead out of the folder, and configs of another domain', () => {
    const kept = new KeptConfigs(state);
    expect(kept.take(line('../../a', 1, 'c1'))).toEqual([]);
    kept.take({ ...line('a.example', 1, 'c2'), config: madeConfig('b.example', {}) });
    expect(kept.domains()).toEqual([]);
    expect([readdirSync(join(state, 'configs')), readdirSync(state).sort()]).toEqual([
      [],
      ['configs', 'cursor'],
    ]);
  });

  it('know the domains below a domain', () => {
    const kept = new KeptConfigs(state);
    for (const name of ['a.example', 'b.a.example', 'c.b.a.example']) kept.take(line(name, 1, 'c'));
    expect(kept.domainsBelow('a.example')).toEqual(['b.a.example', 'c.b.a.example']);
    kept.take(line('b.a.example', 2, 'c', false));
    expect(kept.domainsBelow('a.example')).toEqual(['c.b.a.example']);
  });
});

describe('the feed', () => {
  let server: Server;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Sends one line, and nothing more. */
  async function follow(stopped: AbortSignal) {
    server = createServer((_, response) => response.write('{"cursor":"c1"}\n'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const tokenFile = join(state, 'token');
    writeFileSync(tokenFile, 'edge_x');
    const lines = new EdgeClient({ api: `http://127.0.0.1:${port}`, tokenFile }).followConfig(
      undefined,
      stopped,
    );
    expect(await lines.next()).toEqual({ done: false, value: { cursor: 'c1' } });
    return lines;
  }

  it('ends when the agent stops, even with uncollected garbage', async () => {
    const stopped = new AbortController();
    const lines = await follow(stopped.signal);
    const next = lines.next();
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
    stopped.abort();
    await expect(next).rejects.toThrow('the agent is stopping');
  });

  it('that breaks off ends, and can be requested again', async () => {
    const lines = await follow(new AbortController().signal);
    const next = lines.next();
    server.closeAllConnections();
    await expect(next).rejects.toThrow();
  });
});

describe('certificates', () => {
  it('are files that only this user may read, and are deleted when no config names them', async () => {
    const { pem: certificate, key: private_key } = await makeCertificate({ names: ['a.example'] });
    const kept = new KeptCertificates(state, async () => ({ certificate, private_key }));
    await kept.ensure(certificateOf(7, certificate));
    const files = kept.filesOf(7);
    expect(readFileSync(files?.key ?? '', 'utf8')).toBe(private_key);
    expect(statSync(files?.key ?? '').mode & 0o777).toBe(0o600);
    kept.removeUnused(() => false);
    expect([kept.filesOf(7), existsSync(files?.key ?? '')]).toEqual([undefined, false]);
  });

  it('are rejected with another key, or if another certificate is sent', async () => {
    const names = ['a.example'];
    const [made, other] = [await makeCertificate({ names }), await makeCertificate({ names })];
    const kept = new KeptCertificates(state, async (id) => ({
      certificate: id === 1 ? made.pem : other.pem,
      private_key: other.key,
    }));
    await expect(kept.ensure(certificateOf(1, made.pem))).rejects.toThrow('does not match');
    await expect(kept.ensure(certificateOf(2, made.pem))).rejects.toThrow('does not match its fingerprint');
    expect(readdirSync(join(state, 'certificates'))).toEqual([]);
  });
});

describe('addresses of origins', () => {
  const none = listOf([]);
  const REFUSED = `
    127.0.0.1 10.1.2.3 169.254.169.254 192.168.0.1 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 ::1 ::
    fe80::1 fc00::1 fe80::1%eth0 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe ::127.0.0.1 64:ff9b::a00:1
    64:ff9b:1::1 2002:7f00:1:: 2001:db8::1 2001::1 ff02::1 localhost
  `;
  it.each(['', ...REFUSED.trim().split(/\s+/)])('%s is rejected', (address) =>
    expect(mayConnect(address, none, none)).toBe(false));

  it.each(['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])('%s is accepted', (address) =>
    expect(mayConnect(address, none, none)).toBe(true));

  it('follow the operator’s lists, the denied networks first', () => {
    const [allowed, denied] = [listOf(['10.0.0.0/8']), listOf(['10.9.0.0/16', '9.9.9.9/32'])];
    const asked = ['10.1.1.1', '10.9.1.1', '9.9.9.9', '::ffff:10.9.1.1', '192.168.0.1'];
    expect(asked.filter((address) => mayConnect(address, allowed, denied))).toEqual(['10.1.1.1']);
  });
});

describe('regular expressions', () => {
  const translate = (text: string) => translateRegex(text, { end: '$', captures: true }).written;
  // JavaScript has no flags within expressions, so they are removed for the comparison.
  const matches = (text: string, path: string) => {
    try {
      return new RegExp(translate(text).replaceAll('(?m:^)', '^')).test(path);
    } catch (error) {
      expect(error).toBeInstanceOf(Unwritable); // omitted, as are too many repetitions
      return undefined;
    }
  };

  it('keep their meaning', () => {
    const parts = String.raw`a b / . \. [a-c] [^a/] \d \w (a|b) (?:bc) ^ $ |`.split(' ');
    const regex = fc.array(
      fc.tuple(fc.constantFrom(...parts), fc.constantFrom('', '', '', '+', '?', '{2}', '*?')),
      { maxLength: 6 },
    );
    const path = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/', '.', '1'), maxLength: 12 });
    fc.assert(
      fc.property(regex, path, (drawn, text) => {
        const source = drawn.map(([part, count]) => (/^[\^$|]$/.test(part) ? part : part + count)).join('');
        expect([undefined, new RegExp(source).test(text)]).toContain(matches(source, text));
      }),
      { numRuns: 3_000 },
    );
  });

  const UNTAKEN = String.raw`(a+)+ (a*)*$ (a|a)* (a|ab)* (x(a|ab)(bc|c))* ((a?){9}){9} .*.*.*.*.*x (a)\1
    (?=a) (?<!a) (*FAIL) (?R) (?P>a) \K \Qa\E a** a++ ( ) [ a{2,1} [b-a] [é]`;
  it.each([...UNTAKEN.split(/\s+/), '\n'])('%s is not supported', (text) =>
    expect(() => translate(text)).toThrow(Unwritable));
});

it('numbers above a limit are recognized by their digits', () => {
  for (const limit of [128, 4_096].map((mebibytes) => mebibytes * 1_048_576)) {
    const regex = new RegExp(above(limit).replace(String.raw`\A`, '^').replace(String.raw`\z`, '$'));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), (n) => {
        expect(regex.test(String(n))).toBe(n > limit);
      }),
    );
    expect([limit - 1, limit, limit + 1].map((n) => regex.test(String(n)))).toEqual([false, false, true]);
  }
});

describe('files', () => {
  /** Rejects files that contain `bad`. May name the domain that is responsible. */
  const judge = (names: boolean) => async () => {
    for (const file of readdirSync(join(state, 'domains'))) {
      const path = join(state, 'domains', file);
      if (readFileSync(path, 'utf8').includes('bad'))
        return names ? `emerg: wrong in ${path}:1` : 'emerg: wrong';
    }
    return undefined;
  };

  it.each([
    true,
    false,
  ])('of rejected domains stay unchanged, the others are accepted (names reported: %s)', async (names) => {
    const files = new DomainFiles(join(state, 'domains'), judge(names));
    await files.apply(new Map([['d3.example', 'old']]));
    const wanted = new Map(
      Array.from({ length: 9 }, (_, i) => [`d${i}.example`, i % 3 === 0 ? 'bad' : 'good'] as const),
    );
    const { taken, refused } = await files.apply(wanted);
    expect([...refused.keys()].sort()).toEqual(['d0.example', 'd3.example', 'd6.example']);
    expect(taken.sort()).toEqual([1, 2, 4, 5, 7, 8].map((i) => `d${i}.example`));
    expect(readFileSync(files.pathOf('d3.example'), 'utf8')).toBe('old');
    expect(existsSync(files.pathOf('d0.example'))).toBe(false);
  });
});
