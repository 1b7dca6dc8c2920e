// Chooses the user that replaces root in a process (RUN_AS), and the directories that this user can reach.

import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StartFault } from './start-fault.ts';

export interface ProcessUser {
  readonly uid: number;
  readonly gid: number;
}

/** User data of the machine. */
export interface Accounts {
  readonly uid: number;
  /** Contents of /etc/passwd and /etc/group. */
  readonly passwd: string;
  readonly group: string;
  /** Contents of /proc/self/uid_map: the ids that exist in this container. Empty means all. */
  readonly idMap: string;
}

/** Parent directory of root's files that an unprivileged user must reach. */
export const ROOT_PLACE = '/var/lib/zonefleet';

/** Returns the directory that replaces DATA_DIR for users that cannot enter it. */
export function rootPlaceOf(dataDirectory: string): string {
  return join(ROOT_PLACE, createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12));
}

/** The preferred user, if it exists. */
const OWN_NAME = 'zonefleet';
/**
 * The id used otherwise. It has no name and is outside the ranges that distributions and systemd assign, so no other
 * program has it.
 */
const UNNAMED_ID = 60_953;

/** Returns undefined if the process keeps its user. `setting` is RUN_AS. 'off' keeps root. */
export function chooseUser(setting: string | undefined, accounts: Accounts): ProcessUser | undefined {
  if (accounts.uid !== 0 || setting === 'off') return undefined;
  if (setting !== undefined) return parseUser(setting, accounts);
  const own = findEntry(accounts.passwd, OWN_NAME);
  if (own !== undefined && own.id !== 0) return { uid: own.id, gid: own.group };
  if (isMapped(UNNAMED_ID, accounts.idMap)) return { uid: UNNAMED_ID, gid: UNNAMED_ID };
  const nobody = findEntry(accounts.passwd, 'nobody');
  if (nobody !== undefined && isMapped(nobody.id, accounts.idMap))
    return { uid: nobody.id, gid: nobody.group };
  throw new StartFault('RUN_AS: there is no unprivileged user to run as: set one, or set off to stay root');
}

/** Parses `user` or `user:group`, each a name or a number. */
function parseUser(setting: string, { passwd, group }: Accounts): ProcessUser {
  const [user = '', groupName] = setting.split(':');
  const found = isNumber(user) ? findById(passwd, Number(user)) : findEntry(passwd, user);
  const uid = isNumber(user) ? Number(user) : found?.id;
  if (uid === undefined) throw new StartFault(`RUN_AS: there is no user "${user}"`);
  let gid = found?.group ?? uid;
  if (groupName !== undefined) {
    const id = isNumber(groupName) ? Number(groupName) : findEntry(group, groupName)?.id;
    if (id === undefined) throw new StartFault(`RUN_AS: there is no group "${groupName}"`);
    gid = id;
  }
  if (uid === 0 || gid === 0) throw new StartFault('RUN_AS: root is not allowed: set off to stay root');
  return { uid, gid };
}

const isNumber = (text: string) => /^\d+$/.test(text);

/** Parses a line `name:x:id:group:…`. In /etc/group the fourth field is not a group and is not used. */
function findEntry(file: string, name: string): { id: number; group: number } | undefined {
  const fields = file
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))
    ?.split(':');
  return fields && { id: Number(fields[2]), group: Number(fields[3]) };
}

function findById(file: string, id: number): { id: number; group: number } | undefined {
  const name = findName(file, id);
  return name === undefined ? undefined : findEntry(file, name);
}

function findName(file: string, id: number): string | undefined {
  return file
    .split('\n')
    .find((line) => line.split(':')[2] === String(id))
    ?.split(':')[0];
}

/** Returns the user's name, or its number if it has none. */
export function nameOfUser(uid: number, { passwd }: Pick<Accounts, 'passwd'>): string {
  return findName(passwd, uid) ?? `uid ${uid}`;
}

function isMapped(id: number, idMap: string): boolean {
  const ranges = idMap
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => line.trim().split(/\s+/).map(Number));
  return ranges.length === 0 || ranges.some(([first = 0, , count = 0]) => id >= first && id < first + count);
}

export function loadAccounts(): Accounts {
  const read = (file: string) => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  const [passwd, group, idMap] = ['/etc/passwd', '/etc/group', '/proc/self/uid_map'].map(read) as [
    string,
    string,
    string,
  ];
  return { uid: process.getuid?.() ?? -1, passwd, group, idMap };
}

/** True if `user` may traverse `directory` and all of its parents. */
function mayEnter(directory: string, user: ProcessUser): boolean {
  for (let at = directory; ; at = dirname(at)) {
    if (!has(at, user, 1)) return false;
    if (dirname(at) === at) return true;
  }
}

export function mayRead(file: string, user: ProcessUser): boolean {
  return has(file, user, 4) && mayEnter(dirname(file), user);
}

function has(path: string, user: ProcessUser, bit: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  const shift = found.uid === user.uid ? 6 : found.gid === user.gid ? 3 : 0;
  return (found.mode & (bit << shift)) !== 0;
}

/** Creates the first of `places` that `user` can reach, and changes its owner and that of root's files in it. */
export function giveDirectory(places: readonly string[], user: ProcessUser): string {
  for (const place of places) {
    mkdirSync(place, { recursive: true, mode: 0o711 });
    if (!mayEnter(dirname(place), user)) continue;
    give(place, user, constants.O_DIRECTORY);
    for (const entry of readdirSync(place, { withFileTypes: true }))
      if (entry.isFile()) give(join(place, entry.name), user, 0);
    return place;
  }
  throw new StartFault(`RUN_AS: uid ${user.uid} cannot enter ${places.at(-1)}`);
}

/**
 * Changes the owner only of root's files. The user may have created links: symbolic links are not followed, and files with
 * several hard links are skipped.
 */
function give(path: string, { uid, gid }: ProcessUser, flag: number): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | flag);
  try {
    const found = fstatSync(fd);
    if (found.uid === 0 && (found.isDirectory() || (found.isFile() && found.nlink === 1)))
      fchownSync(fd, uid, gid);
  } finally {
    closeSync(fd);
  }
}
