import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Accounts, chooseUser, giveDirectory, mayRead } from '../../src/process/run-as.ts';

const ROOT: Accounts = {
  uid: 0,
  passwd: 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\nann:x:1000:1001::/:/bin/sh\n',
  group: 'root:x:0:\ndns:x:53:ann\n',
  idMap: '         0          0 4294967295\n',
};
const USER = { uid: 61_001, gid: 61_002 };

describe('the user to become', () => {
  it('is nobody else where the process is not root’s, or RUN_AS is off', () => {
    expect(chooseUser(undefined, { ...ROOT, uid: 1000 })).toBeUndefined();
    expect(chooseUser('ann', { ...ROOT, uid: 1000 })).toBeUndefined();
    expect(chooseUser('off', ROOT)).toBeUndefined();
  });

  it('is zonefleet where there is one, else an id that no other program has', () => {
    const passwd = `${ROOT.passwd}zonefleet:x:990:991::/:/bin/false\n`;
    expect(chooseUser(undefined, { ...ROOT, passwd })).toEqual({ uid: 990, gid: 991 });
    expect(chooseUser(undefined, ROOT)).toEqual({ uid: 60_953, gid: 60_953 });
  });

  it('is nobody in a container that has few ids, and a start fails where there is none either', () => {
    expect(chooseUser(undefined, { ...ROOT, idMap: '0 100000 1\n65534 165534 1\n' })).toEqual({
      uid: 65_534,
      gid: 65_533,
    });
    expect(() => chooseUser(undefined, { ...ROOT, idMap: '0 100000 1\n' })).toThrow(
      'RUN_AS: there is no user',
    );
  });

  it.each([
    ['ann', { uid: 1000, gid: 1001 }],
    ['1000', { uid: 1000, gid: 1001 }],
    ['ann:dns', { uid: 1000, gid: 53 }],
    ['ann:77', { uid: 1000, gid: 77 }],
    ['4321', { uid: 4321, gid: 4321 }],
    ['4321:dns', { uid: 4321, gid: 53 }],
  ])('may be said as %s', (setting, user) => {
    expect(chooseUser(setting, ROOT)).toEqual(user);
  });

  it.each(['bob', 'ann:bob', 'root', '0', 'ann:root', '00'])('is refused as %s', (setting) => {
    expect(() => chooseUser(setting, ROOT)).toThrow(/^RUN_AS: /);
  });
});

describe.skipIf(process.getuid?.() !== 0)(
  'what is given to the user (skipped: needs root)'.replace(process.getuid?.() === 0 ? / \(.*/ : '', ''),
  () => {
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'zf-run-as-'));
      chmodSync(directory, 0o755);
    });
    afterEach(() => rmSync(directory, { recursive: true, force: true }));

    it('is the directory and the files in it, and again after root wrote one', () => {
      const place = join(directory, 'nodes/one');
      expect(giveDirectory([place], USER)).toBe(place);
      writeFileSync(join(place, 'log'), '', { mode: 0o600 });
      giveDirectory([place], USER);
      expect([place, join(place, 'log')].map((path) => statSync(path).uid)).toEqual([USER.uid, USER.uid]);
      expect(statSync(join(directory, 'nodes')).uid).toBe(0);
    });

    it('is never a file of root’s that the user has put a link to', () => {
      const place = giveDirectory([join(directory, 'one')], USER);
      const secret = join(directory, 'secret');
      writeFileSync(secret, '', { mode: 0o600 });
      linkSync(secret, join(place, 'hard'));
      symlinkSync(secret, join(place, 'soft'));
      giveDirectory([place], USER);
      expect(statSync(secret).uid).toBe(0);
      rmSync(place, { recursive: true });
      mkdirSync(join(directory, 'other'));
      symlinkSync(join(directory, 'other'), place);
      expect(() => giveDirectory([place], USER)).toThrow(/ELOOP|ENOTDIR/);
      expect(statSync(join(directory, 'other')).uid).toBe(0);
    });

    it('is in the second place where the user cannot enter the first', () => {
      const closed = join(directory, 'closed');
      mkdirSync(closed, { mode: 0o700 });
      const open = join(directory, 'open/one');
      expect(giveDirectory([join(closed, 'one'), open], USER)).toBe(open);
      writeFileSync(join(closed, 'file'), '', { mode: 0o644 });
      expect(mayRead(join(closed, 'file'), USER)).toBe(false);
    });
  },
);
