// Lists the documents of a package, including the files to which they link.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** A link to another file. Links to web pages and to sections of the same document do not match. */
const LINK = /\]\((?![a-z]+:|#)([^)#\s]+)/g;

/** Returns paths relative to `root`. Throws if a link leads to a missing file, or to one outside `root`. */
export function documentsIn(root: string): string[] {
  const found = new Set(['README.md', 'CHANGELOG.md', ...filesIn(root, 'docs').filter(isMarkdown)]);
  // The loop also visits the files that it adds.
  for (const document of found) {
    if (!isMarkdown(document)) continue;
    for (const [, link = ''] of readFileSync(join(root, document), 'utf8').matchAll(LINK)) {
      const path = join(dirname(document), link);
      if (path.startsWith('..') || !existsSync(join(root, path)))
        throw new Error(`${document}: the link to ${link} leads to no file`);
      for (const file of filesIn(root, path)) found.add(file);
    }
  }
  return [...found].sort();
}

/** Returns the path itself if it is a file. */
function filesIn(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path)).flatMap((name) => filesIn(root, join(path, name)));
}

function isMarkdown(path: string): boolean {
  return path.endsWith('.md');
}
