import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { boardPage } from '../../../../src/api/console/board/board-page.ts';

const ofBoard = createRequire(createRequire(import.meta.url).resolve('@bull-board/api'));
const template = readFileSync(
  join(dirname(ofBoard.resolve('@bull-board/ui/package.json')), 'dist/index.ejs'),
  'utf8',
);

describe('the page of the board', () => {
  it('loads only the files of the template, and has nothing inline', () => {
    const page = boardPage(template, '/console/queues/', { boardTitle: 'Zonefleet' });
    const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url as string);
    for (const kind of [/^static\/css\/main\./, /^static\/js\/main\./, /^static\/js\/lib-react\./])
      expect(loaded.filter((url) => kind.test(url))).toHaveLength(1);
    expect(loaded.filter((url) => !url.startsWith('static/'))).toEqual(['/console/queues/']);
    expect(page).not.toMatch(/https?:|\/\/|<style| style=| on\w+=|<%/);
    expect(page.match(/<script(?! defer src=)[^>]*>/g)).toEqual([
      '<script id="__UI_CONFIG__" type="application/json">',
    ]);
  });

  it('contains the settings as data, whatever they are', () => {
    const page = boardPage(template, '/console/queues/', {
      boardTitle: '</script><script>alert(1)</script>',
    });
    expect(page).not.toContain('alert(1)</script>');
    const [, data = ''] = /type="application\/json">(.*)<\/script>/.exec(page) ?? [];
    expect(JSON.parse(data).boardTitle).toContain('alert(1)');
  });

  it('throws an error for a template that names no files', () => {
    expect(() => boardPage('<html></html>', '/', {})).toThrow('unknown template of @bull-board/ui');
  });
});
