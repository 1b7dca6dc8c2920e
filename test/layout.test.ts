// The house rules of the source tree, read off the files: who imports whom, what is tested where, how files are named.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * The rooms, and what the files of each may import besides their own room. A row names only rooms of rows above it, so the
 * imports are a graph without circles. `dns` is the files directly in src/dns; `start` composes the processes by running them.
 */
const MAY_IMPORT: Readonly<Record<string, string>> = {
  dns: '',
  'dns/record': 'dns',
  'dns/message': 'dns dns/record',
  'dns/zone-file': 'dns dns/record',
  zone: 'dns dns/message dns/record',
  'zone/domain': 'dns zone',
  'zone/image': 'dns dns/message dns/record zone',
  'zone/records': 'dns dns/record dns/zone-file zone',
  'zone/edit': 'dns zone zone/records',
  'zone/import': 'dns dns/record dns/zone-file zone zone/edit zone/records',
  'zone/publish': 'dns dns/record zone zone/records',
  'checks/delegation': 'dns',
  'checks/aname': 'dns checks/delegation',
  'checks/scan': 'dns dns/record checks/delegation',
  'checks/txt': 'dns checks/delegation',
  process: 'zone/records',
  'process/settings': 'dns process',
  queue: '',
  'resolver/exchange': 'dns dns/message dns/record',
  'resolver/replies': 'dns dns/message dns/record checks/scan resolver/exchange',
  'resolver/state': 'dns dns/record dns/zone-file checks/delegation resolver/exchange',
  'resolver/walk':
    'dns dns/message checks/delegation checks/txt resolver/exchange resolver/replies resolver/state',
  'resolver/aname': 'dns checks/aname checks/delegation resolver/replies resolver/state resolver/walk',
  'resolver/delegation': 'dns checks/delegation resolver/replies resolver/state resolver/walk',
  'resolver/scan':
    'dns dns/record checks/delegation checks/scan resolver/replies resolver/state resolver/walk',
  'resolver/txt': 'dns checks/delegation checks/txt resolver/replies resolver/state resolver/walk',
  resolver:
    'dns checks/aname checks/delegation checks/scan checks/txt resolver/aname resolver/delegation resolver/exchange resolver/scan resolver/state resolver/txt resolver/walk',
  'store/postgres': 'dns zone/domain zone/records checks/delegation checks/txt process',
  'store/accounts': 'store/postgres',
  'store/feed': 'dns zone store/postgres',
  'store/records':
    'dns dns/record zone zone/domain zone/edit zone/publish zone/records checks/aname store/accounts store/postgres',
  'store/domains':
    'dns zone/domain zone/publish checks/delegation store/accounts store/postgres store/records',
  'store/roles': 'store/postgres',
  'store/zones': 'dns dns/record checks/delegation zone store/postgres',
  'store/change':
    'dns zone zone/domain zone/edit zone/publish zone/records checks/delegation store/accounts store/domains store/postgres store/records store/zones',
  'store/aname':
    'dns zone/publish zone/records checks/aname checks/delegation store/change store/postgres store/records store/zones',
  'store/checks': 'dns zone/domain zone/publish checks/delegation store/change store/domains store/postgres',
  'store/housekeeping':
    'dns dns/record zone store/accounts store/change store/domains store/postgres store/records',
  'store/migrate':
    'dns zone zone/publish process store/change store/domains store/postgres store/records store/roles store/zones',
  'store/scans': 'dns zone/edit zone/records checks/scan store/accounts store/change store/postgres',
  'store/verifications':
    'dns dns/record zone/domain checks/txt store/change store/checks store/domains store/postgres',
  'nameserver/answer': 'dns dns/message dns/record zone/image',
  'nameserver/threads': '',
  'nameserver/snapshot': 'dns zone zone/image process store/feed nameserver/threads',
  'nameserver/follow':
    'dns zone zone/image process store/feed store/migrate store/postgres nameserver/snapshot nameserver/threads',
  'nameserver/udp': 'dns/record zone/image process nameserver/answer nameserver/threads',
  'nameserver/tcp': 'process nameserver/answer nameserver/threads nameserver/udp',
  nameserver:
    'dns/message zone/image process process/settings store/postgres nameserver/answer nameserver/follow nameserver/tcp nameserver/threads nameserver/udp',
  'api/answers': '',
  'api/callers': 'dns zone zone/edit process store/accounts store/postgres api/answers',
  'api/calls':
    'zone/domain zone/records queue store/accounts store/domains store/postgres api/answers api/callers',
  'api/schemas': 'zone/domain zone/edit zone/records checks/delegation api/answers api/callers',
  'api/actions':
    'dns zone/edit zone/records store/change store/feed store/postgres store/scans api/answers api/callers api/calls api/schemas',
  'api/body': 'api/answers api/calls api/schemas',
  'api/print':
    'dns dns/record zone zone/domain zone/publish zone/records checks/delegation checks/scan store/accounts store/checks store/domains store/feed store/postgres store/records store/scans store/verifications api/callers api/schemas',
  'api/lists': 'store/postgres api/answers api/calls api/print api/schemas',
  'api/routes':
    'dns dns/zone-file zone zone/domain zone/edit zone/import zone/publish zone/records store/accounts store/change store/checks store/domains store/feed store/postgres store/records store/scans store/verifications store/zones api/actions api/answers api/body api/callers api/calls api/lists api/print api/schemas',
  'api/large': 'process store/postgres api/answers api/body api/calls api/routes',
  'api/http': 'process store/postgres api/answers api/body api/callers api/calls api/large',
  api: 'process process/settings queue store/accounts store/migrate store/postgres api/answers api/callers api/calls api/http api/large api/routes api/schemas',
  'cli/terminal':
    'dns zone zone/domain queue resolver resolver/exchange resolver/state store/accounts store/migrate store/postgres',
  'cli/account': 'dns zone zone/domain zone/records store/accounts cli/terminal',
  'cli/check': 'dns dns/message dns/record zone checks/delegation store/checks store/postgres cli/terminal',
  'cli/domain':
    'dns zone zone/domain queue store/accounts store/change store/checks store/domains store/postgres store/verifications cli/terminal',
  'cli/node': 'queue store/feed store/migrate store/roles cli/terminal',
  'cli/scan':
    'dns dns/record zone zone/records checks/scan process store/domains store/postgres store/scans cli/terminal',
  'cli/zone': 'dns dns/record dns/zone-file zone store/housekeeping store/postgres store/zones cli/terminal',
  workers:
    'dns zone/records checks/aname checks/delegation checks/scan checks/txt process process/settings queue resolver resolver/exchange resolver/state store/accounts store/aname store/checks store/housekeeping store/migrate store/postgres store/scans store/verifications store/zones',
  'start/postgres': 'process store/roles',
  start:
    'dns zone/edit process process/settings queue store/accounts store/change store/domains store/migrate store/postgres store/roles start/postgres',
  cli: 'process/settings cli/account cli/check cli/domain cli/node cli/scan cli/terminal cli/zone start',
};
/** Plain JavaScript that installs what is missing before any TypeScript can run: every program starts through it. */
const LAUNCHER = 'src/start/run.mjs';
const PURE = ['dns', 'zone', 'checks'];
/** Packages that only compute: IDNA and the public suffix list. */
const COMPUTING = ['node:buffer', 'tr46', 'tldts'];
const SQL = ['kysely', 'pg'];
/** What only tests import, and why it stands with the sources. */
const EXPORTED_FOR_TESTS: Readonly<Record<string, string>> = {
  'src/zone/find-answer.ts: findAnswer': 'the reference that answers from the image are compared with',
  'src/start/supervise.ts: restartDelayMs': 'no test waits for its longer delays',
};

const EXPORT =
  /^export (?:declare |async |abstract )*(function\*?|class|const|let|interface|type|enum) (\w+)/gm;

interface Source {
  /** From the repository's root. */
  readonly path: string;
  /** `dns`, `dns/record`, `workers`, … */
  readonly room: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const sources = [...filesIn('src'), ...filesIn('workers')]
  .filter((path) => /\.(ts|mjs)$/.test(path))
  .map(readSource);
const bench = filesIn('bench')
  .filter((path) => path.endsWith('.ts'))
  .map(readSource);
const tests = filesIn('test').filter((path) => path.endsWith('.test.ts'));

function filesIn(folder: string): string[] {
  const start = join(ROOT, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const found = text.matchAll(/\bfrom\s+'([^']+)'|\bimport\s+'([^']+)'|\bimport\(\s*'([^']+)'/g);
  return {
    path,
    room: roomOf(path),
    text,
    imports: [...found].map(([, a, b, c]) => (a ?? b ?? c) as string),
  };
}

/** What a file imports of ours, each as `path: name`; `path: *` is all of it. */
function namesImported(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const clauses = [
    ...text.matchAll(/\bimport\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g),
    ...text.matchAll(/\{([^{}]*)\}\s*=\s*await\s+import\(\s*'(\.[^']+)'/g),
    ...text.matchAll(/\bimport\s+(\*)\s+as\s+\w+\s+from\s+'(\.[^']+)'/g),
  ];
  return clauses.flatMap(([, names = '', target = '']) =>
    names.split(',').map((clause) => {
      const [name] = clause
        .trim()
        .replace(/^type\s+/, '')
        .split(/\s+as\s+|:/);
      return `${join(dirname(path), target)}: ${name}`;
    }),
  );
}

/** The imports of ours, as paths from the root. */
function ownImports({ path, imports }: Pick<Source, 'path' | 'imports'>): string[] {
  return imports.filter((name) => name.startsWith('.')).map((name) => join(dirname(path), name));
}

/** One circle for each file from which a walk along the imports comes back to a file on its way. */
function circlesOf(files: readonly Pick<Source, 'path' | 'imports'>[]): string[] {
  const targets = new Map(files.map((file) => [file.path, ownImports(file)]));
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, way: readonly string[]): void => {
    const begun = way.indexOf(path);
    if (begun >= 0) circles.push([...way.slice(begun), path].join(' -> '));
    if (begun >= 0 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) walk(target, [...way, path]);
    done.add(path);
  };
  for (const path of targets.keys()) walk(path, []);
  return circles;
}

/** Two folders deep: what is below belongs to the same room. */
function roomOf(path: string): string {
  return dirname(path)
    .replace(/^src\//, '')
    .split('/')
    .slice(0, 2)
    .join('/');
}

function topOf({ room }: Source): string {
  return room.split('/')[0] as string;
}

function offenders(rule: (source: Source) => string[]): string[] {
  return sources.flatMap((source) => rule(source).map((what) => `${source.path}: ${what}`));
}

function allowed(room: string): string[] {
  return (MAY_IMPORT[room] ?? '').split(' ').filter((name) => name !== '');
}

describe('imports', () => {
  it('follow the table of who may import whom', () => {
    const found = offenders((source) =>
      ownImports(source).filter((target) => {
        if (target === LAUNCHER && source.path.endsWith('.mjs')) return false;
        const room = roomOf(target);
        return room !== source.room && !allowed(source.room).includes(room);
      }),
    );
    expect(found).toEqual([]);
    expect(sources.filter(({ room }) => !(room in MAY_IMPORT)).map(({ path }) => path)).toEqual([]);
  });

  it('go from a row of the table to rows above it only', () => {
    const rows = Object.keys(MAY_IMPORT);
    const wrong = rows.flatMap((row, at) =>
      allowed(row)
        .filter((room) => !rows.slice(0, at).includes(room))
        .map((room) => `${row}: ${room}`),
    );
    expect(wrong).toEqual([]);
  });

  it('use everything that the table allows', () => {
    const used = new Set(
      sources.flatMap((source) => ownImports(source).map((target) => `${source.room}: ${roomOf(target)}`)),
    );
    const idle = Object.keys(MAY_IMPORT).flatMap((row) =>
      allowed(row)
        .map((room) => `${row}: ${room}`)
        .filter((arrow) => !used.has(arrow)),
    );
    expect(idle).toEqual([]);
  });

  it('name files that exist, with their extension', () => {
    expect(
      offenders((source) => ownImports(source).filter((target) => !existsSync(join(ROOT, target)))),
    ).toEqual([]);
  });

  it('make no circle of files, not even of types', () => {
    expect(circlesOf([...sources, ...bench])).toEqual([]);
    const circle = ['b.ts', 'c.ts', 'b.ts'].map((name) => `./${name}`);
    const made = ['a.ts', 'b.ts', 'c.ts'].map((path, at) => ({ path, imports: [circle[at] as string] }));
    expect(circlesOf(made)).toEqual(['b.ts -> c.ts -> b.ts']);
  });

  it('of the settings and the log stand in main.ts files only', () => {
    const found = offenders((source) => {
      if (basename(source.path) === 'main.ts' || source.room === 'process/settings') return [];
      return ownImports(source).filter((target) =>
        /^src\/process\/(settings\/read-settings|log)\.ts$/.test(target),
      );
    });
    expect(found).toEqual([]);
  });

  it('of a process main.ts do not happen', () => {
    expect(
      offenders((source) => ownImports(source).filter((target) => basename(target) === 'main.ts')),
    ).toEqual([]);
  });

  it('of SQL stand in src/store only', () => {
    const found = offenders((source) => {
      if (topOf(source) === 'store') return [];
      return source.imports.filter((name) =>
        SQL.some((module) => name === module || name.startsWith(`${module}/`)),
      );
    });
    expect(found).toEqual([]);
  });

  it('name the file that does the work: there is no barrel', () => {
    const found = offenders(({ path, text }) => [
      ...(/^export\s+(\*|(type\s+)?\{[^}]*\})\s*(as \w+ )?from/m.test(text) ? ['re-exports'] : []),
      ...(/^index\./.test(basename(path)) ? ['is an index'] : []),
    ]);
    expect(found).toEqual([]);
  });
});

describe('exports', () => {
  const importers = ['src', 'workers', 'bench', 'test']
    .flatMap(filesIn)
    .filter((path) => /\.m?[tj]s$/.test(path));
  const programs = importers.filter((path) => !path.startsWith('test/'));
  const byPrograms = new Set(programs.flatMap(namesImported));
  const byAnything = new Set(importers.flatMap(namesImported));
  const exported = sources
    .filter((source) => source.path.endsWith('.ts'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(EXPORT)].map(([, kind, name]) => {
        const users = kind === 'type' || kind === 'interface' ? byAnything : byPrograms;
        const what = `${path}: ${name}`;
        return { what, isUsed: users.has(what) || users.has(`${path}: *`) };
      }),
    );

  it('are there for another file of src, workers or bench; a type also for a test', () => {
    const idle = exported.filter(({ what, isUsed }) => !isUsed && !(what in EXPORTED_FOR_TESTS));
    expect(idle.map(({ what }) => what)).toEqual([]);
  });

  it('for tests alone are still there, and no program imports them', () => {
    const idle = exported.filter(({ isUsed }) => !isUsed).map(({ what }) => what);
    expect(Object.keys(EXPORTED_FOR_TESTS).filter((what) => !idle.includes(what))).toEqual([]);
  });
});

describe('pure folders', () => {
  const pure = sources.filter((source) => PURE.includes(topOf(source)));

  it('touch no clock, no I/O, no settings and no log', () => {
    const touches =
      /\b(Date\.now|new Date\(\)|performance\.|process\.|setTimeout|setInterval|console\.|Math\.random|fetch\()/;
    expect(pure.filter(({ text }) => touches.test(withoutComments(text))).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it('import nothing from outside', () => {
    const outside = pure.flatMap(({ path, imports }) =>
      imports
        .filter((name) => !name.startsWith('.') && !COMPUTING.includes(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(outside).toEqual([]);
  });

  it('have a test beside every file that does something, or one for its folder', () => {
    const bare = pure.filter(({ path, text }) => {
      if (!/^export (async )?(function|class)\b|^export const \w+ = (\(|async|function)/m.test(text))
        return false;
      const stem = path.replace(/^src\//, 'test/').replace(/\.ts$/, '');
      return ![`${stem}.test.ts`, `${dirname(stem)}.test.ts`].some((test) => existsSync(join(ROOT, test)));
    });
    expect(bare.map(({ path }) => path)).toEqual([]);
  });
});

describe('files', () => {
  it('begin with a comment that says what they do', () => {
    const bare = sources.filter(({ text }) => !/^(#!.*\n)?\/\/ \S/.test(text));
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  it('are at most 25 in a folder, but for record types, which are a list', () => {
    const sizes = new Map<string, number>();
    for (const path of ['src', 'workers', 'test', 'bench'].flatMap(filesIn)) {
      if (/\.(ts|mts|mjs)$/.test(path)) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
    }
    const full = [...sizes].filter(([folder, files]) => files > 25 && !folder.endsWith('dns/record/types'));
    expect(full).toEqual([]);
  });

  it('have kebab-case names that say something', () => {
    const names = [
      ...sources.map(({ path }) => path),
      ...filesIn('test').filter((path) => path.endsWith('.ts')),
    ];
    const empty = /(^|-)(utils?|helpers?|manager|service|handler|data|info)$/; // the noun, the last word
    const bad = names.filter((path) => {
      const name = basename(path).replace(/(\.test|\.d)?\.(ts|mjs)$/, '');
      return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || empty.test(name);
    });
    expect(bad).toEqual([]);
  });

  it('read the environment where a process begins only', () => {
    const allowed = /(\/main\.ts|\.mjs)$/;
    expect(
      offenders(({ path, text }) =>
        allowed.test(path) ? [] : (withoutComments(text).match(/process\.env\b/g) ?? []),
      ),
    ).toEqual([]);
  });
});

describe('tests', () => {
  it('mirror the sources file for file, or folder for folder', () => {
    const strays = tests.filter((path) => {
      if (/^test\/(flows|proofs|chaos|support)\//.test(path) || path === 'test/layout.test.ts') return false;
      const stem = path.replace(/^test\//, '').replace(/\.test\.ts$/, '');
      return ![`src/${stem}.ts`, `src/${stem}.mjs`, `src/${stem}`, `${stem}.ts`].some((source) =>
        existsSync(join(ROOT, source)),
      );
    });
    expect(strays).toEqual([]);
  });

  it('do not measure how fast the machine is: figures are the benchmark’s', () => {
    const timed =
      /expect\((?:[^;]*performance\.now\(\)|\w*(?:elapsed|duration|took)\w*\)|\w+Ms\)\.toBeLess)/gi;
    const found = tests.flatMap((path) =>
      (readFileSync(join(ROOT, path), 'utf8').match(timed) ?? []).map((text) => `${path}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});

describe('references', () => {
  const texts = [...['src', 'workers', 'test', 'bench', 'docs'].flatMap(filesIn), 'README.md']
    .filter((path) => /\.(ts|mts|mjs|md|sql|service)$/.test(path) && path !== 'test/layout.test.ts')
    .map((path) => ({ path, text: joinLines(readFileSync(join(ROOT, path), 'utf8')) }));

  it('do not lead to documents outside the repository', () => {
    const documents = ['.', 'bench', 'docs', 'fixtures'].flatMap((folder) =>
      folder === '.' ? readdirSync(ROOT) : filesIn(folder),
    );
    const known = new Set(documents.map((path) => basename(path)));
    const outside = texts.flatMap(({ path, text }) =>
      (text.match(/\bspec §|\b[\w-]+\.md\b/g) ?? [])
        .filter((cited) => !known.has(cited))
        .map((cited) => `${path}: ${cited}`),
    );
    expect(outside).toEqual([]);
  });

  it('of a document to a file or a folder lead to one', () => {
    const broken = texts
      .filter(({ path }) => path.endsWith('.md'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`((?:src|workers|test|bench|fixtures|docs)\/[\w./-]+)`/g)]
          .map(([, named]) => named as string)
          .filter((named) => !['', '.ts', '.test.ts'].some((end) => existsSync(join(ROOT, named + end))))
          .map((named) => `${path}: ${named}`),
      );
    expect(broken).toEqual([]);
  });

  it('to a section of a document name a file and a heading that exist', () => {
    const broken = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/([\w./-]+\.md),? "([^"\n]+)"/g)]
        .filter(([, file, heading]) => !headingsOf(file as string).includes(heading as string))
        .map(([cited]) => `${path}: ${cited}`),
    );
    expect(broken).toEqual([]);
  });
});

/** As one line a paragraph, since a comment's citation may go on in its next line. */
function joinLines(text: string): string {
  return text.replaceAll(/\n[ \t]*(?:\/\/|\*(?!\/))?[ \t]*(?=\S)/g, ' ');
}

function headingsOf(file: string): string[] {
  const path = join(ROOT, file);
  if (!existsSync(path)) return [];
  return [...readFileSync(path, 'utf8').matchAll(/^#+ +(.+)$/gm)].map(([, heading]) => heading as string);
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
