// The parts of npm start that need no processes.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBuild } from '../src/process/build.ts';
import { mayRead } from '../src/process/run-as.ts';
import { readSettings } from '../src/process/settings/read-settings.ts';
import type { ProcessName } from '../src/process/settings/setting.ts';
import { StartFault } from '../src/process/start-fault.ts';
import { ENGINE_SIZE } from '../src/start/analytics/install-engine.ts';
import { analyticsOf, hasAnalyticsStore, wantsAnalytics } from '../src/start/analytics-place.ts';
import { ensureKeySecrets } from '../src/start/key-secrets.ts';
import { placeProgram } from '../src/start/place-program.ts';
import { summary } from '../src/start/print-summary.ts';
import { environmentOf } from '../src/start/process-environment.ts';
import { readArguments } from '../src/start/read-arguments.ts';
import { roleUrls } from '../src/start/role-urls.ts';

describe('the key secret of a machine', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'zf-keys-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('the secret is created once, readable only by its owner, in the format of KEY_SECRETS', () => {
    const made = ensureKeySecrets(join(directory, 'new'), 'keys');
    expect(made.isNew).toBe(true);
    expect(statSync(made.file).mode & 0o777).toBe(0o600);
    expect(ensureKeySecrets(join(directory, 'new'), 'keys')).toEqual({ ...made, isNew: false });
    expect(readSettings({ KEY_SECRETS: made.text }).keySecrets).toHaveLength(1);
  });

  it('two machines never create secrets with the same name', () => {
    const names = ['a', 'b'].map(
      (name) => ensureKeySecrets(join(directory, name), 'keys').text.split(':')[0],
    );
    expect(names[0]).not.toBe(names[1]);
  });

  it('a file that cannot be read ends the start with an error that names it', () => {
    mkdirSync(join(directory, 'keys'));
    expect(() => ensureKeySecrets(directory, 'keys')).toThrow(
      /keys: cannot read the secret that encrypts stored secrets/,
    );
  });
});

describe('the location of a program that does not run as root', () => {
  const isRoot = process.getuid?.() === 0;
  const USER = { uid: 61_001, gid: 61_002 };
  let directory: string;
  let root: string;
  let place: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'zf-place-'));
    chmodSync(directory, 0o755);
    [root, place] = [join(directory, 'checkout'), join(directory, 'place')];
    const packages = { 'node_modules/koffi': {}, 'node_modules/vitest': { dev: true } };
    const files: Record<string, string> = {
      ...{ 'package.json': '{}', 'package-lock.json': '{}', 'tsconfig.json': '{}', 'workers/main.ts': '1' },
      ...{ 'src/process/run-process.ts': '1', 'src/process/thread.mjs': '1' },
      'node_modules/.package-lock.json': JSON.stringify({ packages }),
      'node_modules/koffi/package.json': '{}',
      'node_modules/vitest/package.json': '{}',
      'node_modules/.cache/zonefleet/a': '{}',
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  describe.skipIf(!isRoot)(`the program${isRoot ? '' : ' (skipped: needs root)'}`, () => {
    it('is the checkout if the user can read it', () => {
      expect(placeProgram(root, USER, place)).toBe(root);
      chmodSync(root, 0o700);
      expect(placeProgram(root, undefined, place)).toBe(root);
      expect(existsSync(place)).toBe(false);
    });

    it.each([
      ['the checkout', ''],
      ['one of its files', 'src/process/run-process.ts'],
    ])('is a copy for a user who cannot read %s, without files that only tests use', (_, closed) => {
      const path = join(root, closed);
      chmodSync(path, statSync(path).mode & 0o700);
      const commit = '5245abc7a1b2';
      writeFileSync(join(root, 'build.json'), JSON.stringify({ commit }));
      const copy = placeProgram(root, USER, place);
      expect(copy).not.toBe(root);
      for (const file of ['src/process/run-process.ts', 'workers/main.ts', 'node_modules/koffi/package.json'])
        expect(mayRead(join(copy, file), USER)).toBe(true);
      for (const name of ['vitest', '.cache'])
        expect(existsSync(join(copy, 'node_modules', name))).toBe(false);
      expect(readBuild(copy).commit).toBe(commit);
      expect(placeProgram(root, USER, place)).toBe(copy);
    });

    it('is another copy if a file has changed, while running processes keep theirs', () => {
      chmodSync(root, 0o700);
      const before = placeProgram(root, USER, place);
      writeFileSync(join(root, 'src/process/run-process.ts'), 'changed');
      const after = placeProgram(root, USER, place);
      expect(readFileSync(join(after, 'src/process/run-process.ts'), 'utf8')).toBe('changed');
      expect(readFileSync(join(before, 'src/process/run-process.ts'), 'utf8')).toBe('1');
    });

    it('is rejected if users other than root may write to it', () => {
      chmodSync(root, 0o700);
      mkdirSync(place);
      chmodSync(place, 0o777);
      expect(() => placeProgram(root, USER, place)).toThrow('must belong to root');
    });
  });
});

const at = { address: '127.0.0.1', port: 8053 };
const started = {
  addresses: [at],
  api: [at],
  metrics: [at],
  registrar: undefined,
  place: 'embedded PostgreSQL in /somewhere',
  first: undefined,
  shownKey: 'svc_…',
  publicUrl: 'http://127.0.0.1:8053',
  hasConsole: true,
  lacksAnalytics: false,
  secretFiles: [],
  question: 'www.shop.example A',
  remark: undefined,
  path: '/domains/',
};

describe('the summary of npm start', () => {
  it('explains how to sign in, at the first and at each further start', () => {
    const first = { key: 'svc_first', link: 'http://127.0.0.1:8053/console/#sign-in=lnk_x' };
    expect(summary({ ...started, first })).toContain(`  sign in   ${first.link} `);
    expect(summary(started)).toMatch(/^ {2}sign in {3}npx zonefleet account sign-in EMAIL /m);
  });

  it('names the size of the analytics engine if it is not installed', () => {
    expect(summary({ ...started, lacksAnalytics: true })).toContain(`downloads the engine, ${ENGINE_SIZE})`);
    expect(summary(started)).not.toContain('analytics');
  });

  it('does not mention signing in if there is no console', () => {
    expect(summary({ ...started, hasConsole: false })).not.toContain('sign in');
  });
});

const SECRETS = {
  DATABASE_URL: 'postgresql://owner:secret@db/zonefleet',
  REDIS_URL: 'redis://:secret@queue/0',
  COOKIE_SECRETS: '0123456789abcdef0123456789abcdef',
  BOOTSTRAP_API_KEY: `svc_${'0'.repeat(40)}`,
  KEY_SECRETS: 'sealing:secret',
  TSIG_SECRETS: 'sealing:secret',
  AWS_SECRET_ACCESS_KEY: 'not ours',
  npm_config_token: 'not ours',
};
const secretsOf = (name: ProcessName) =>
  Object.keys(environmentOf(name, SECRETS, { DATABASE_URL: 'its own' })).sort();

describe('the environment of a process', () => {
  it('has only its own secrets', () => {
    expect(secretsOf('nameserver')).toEqual(['COOKIE_SECRETS', 'DATABASE_URL', 'TSIG_SECRETS']);
    expect(secretsOf('API')).toEqual([
      'BOOTSTRAP_API_KEY',
      'DATABASE_URL',
      'KEY_SECRETS',
      'REDIS_URL',
      'TSIG_SECRETS',
    ]);
    expect(secretsOf('workers')).toEqual(['DATABASE_URL', 'KEY_SECRETS', 'REDIS_URL', 'TSIG_SECRETS']);
  });

  it('has values chosen by npm start instead of given ones', () => {
    expect(environmentOf('API', SECRETS, { DATABASE_URL: 'its own' }).DATABASE_URL).toBe('its own');
  });

  it('has the path of a secret file only if it reads the secret and has no other value', () => {
    const env = { DATABASE_URL_FILE: '/a', KEY_SECRETS_FILE: '/b' };
    expect(environmentOf('API', env, { DATABASE_URL: 'its own' })).toEqual({
      DATABASE_URL: 'its own',
      KEY_SECRETS_FILE: '/b',
    });
    expect(environmentOf('nameserver', env, {})).toEqual({ DATABASE_URL_FILE: '/a' });
  });

  it('has what every program needs, but no ring that would keep root privileges', () => {
    const env = {
      PATH: '/bin',
      HOME: '/',
      TZ: 'UTC',
      LC_ALL: 'C',
      NODE_ENV: 'production',
      PGSSLMODE: 'require',
    };
    expect(environmentOf('workers', { ...env, UV_USE_IO_URING: '1', LD_PRELOAD: '/x' }, {})).toEqual(env);
  });

  it('treats NODE_NAME as a setting', () => {
    expect(environmentOf('API', { NODE_NAME: 'one' }, {})).toEqual({});
    expect(environmentOf('nameserver', { NODE_NAME: 'one' }, {})).toEqual({ NODE_NAME: 'one' });
  });
});

it('accepts only --demo', () => {
  expect(readArguments([], {})).toEqual({ isDemo: false, hasAnalytics: false });
  expect(readArguments(['--demo'], {})).toEqual({ isDemo: true, hasAnalytics: false });
  expect(readArguments(['--analytics', '--demo'], {})).toEqual({ isDemo: true, hasAnalytics: true });
});

it.each([['--demos'], ['demo'], ['--help'], ['']])('%j is reported as unknown', (word) => {
  expect(() => readArguments(['--demo', word], {})).toThrow(StartFault);
  expect(() => readArguments([word], {})).toThrow(`unknown argument "${word}"`);
});

it('an argument that npm took for itself is reported', () => {
  const env = { npm_config_demo: 'true' };
  expect(() => readArguments([], env)).toThrow('npm took --demo for itself: use npm start -- --demo');
});

const PASSWORDS = { zonefleet_node: 'n0de-pass', zonefleet_api: 'api-pass' };

it.each([
  ['postgresql://owner:secret@db:5432/zonefleet?sslmode=require', 'db:5432/zonefleet?sslmode=require'],
  ['postgres://owner@db/zonefleet', 'db/zonefleet'],
  ['postgresql://db/zonefleet?options=a@b', 'db/zonefleet?options=a@b'],
  ['postgresql://zonefleet:secret@/zonefleet?host=%2Frun', '/zonefleet?host=%2Frun'],
])("the URL of a process has its role and password instead of the owner's: %s", (url, rest) => {
  const urls = roleUrls(url, PASSWORDS);
  const [scheme] = url.split('//');
  expect(urls.of('nameserver')).toBe(`${scheme}//zonefleet_node:n0de-pass@${rest}`);
  expect(urls.of('API')).toBe(`${scheme}//zonefleet_api:api-pass@${rest}`);
  expect(urls.owner).toBe(url);
});

it('a process whose role has no password connects as the owner', () => {
  expect(roleUrls('postgresql://owner@db/x', PASSWORDS).of('workers')).toBe('postgresql://owner@db/x');
});

describe('the analytics store of npm start', () => {
  const unset = { analytics: undefined, analyticsUrl: undefined, hasAnalytics: false, hasStore: false };

  it.each([
    ['is not installed on a new machine', {}, false],
    ['runs if it has run before', { hasStore: true }, true],
    ['runs if it is requested', { hasAnalytics: true }, true],
    ['runs with ANALYTICS=on', { analytics: true }, true],
    ['does not run with ANALYTICS=off', { analytics: false, hasStore: true }, false],
    ['does not run if another store is set', { analytics: true, analyticsUrl: 'http://store' }, false],
  ])('%s', (_, choice, runs) => {
    expect(wantsAnalytics({ ...unset, ...choice })).toBe(runs);
  });

  it.each([
    ['ANALYTICS', { analytics: false }],
    ['ANALYTICS_URL', { analyticsUrl: 'http://store' }],
  ])('--analytics is rejected if %s contradicts it', (name, choice) => {
    const choose = () => wantsAnalytics({ ...unset, ...choice, hasAnalytics: true });
    expect(choose).toThrow(StartFault);
    expect(choose).toThrow(`--analytics: expected ${name} to be unset`);
  });

  it('has run before if its directory has a store', () => {
    const directory = mkdtempSync(join(tmpdir(), 'zf-store-'));
    try {
      mkdirSync(join(directory, 'analytics'));
      expect(hasAnalyticsStore(directory)).toBe(false);
      mkdirSync(join(directory, 'analytics/store'));
      expect(hasAnalyticsStore(directory)).toBe(true);
      const missing = join(directory, 'none');
      expect(hasAnalyticsStore(missing)).toBe(false);
      expect(existsSync(analyticsOf(missing, undefined).directory)).toBe(true); // created with its parent
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
