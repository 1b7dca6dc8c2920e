// Exports the filtered list to a file. It is loaded page by page, so that long lists work.

import { useRef, useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { pageOf } from '../../api/use-pages.ts';
import { usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { SelectField } from '../../parts/field.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { delegationLine, domainQuery, isFiltered } from './domain-query.ts';
import type { DomainRow } from './domain-row.ts';
import { type ExportFormat, exportText } from './export-names.ts';
import { sentenceOf } from './sentence.ts';

const ROWS_AT_ONCE = 1000;
const TYPES = { csv: 'text/csv;charset=utf-8', tsv: 'text/tab-separated-values;charset=utf-8' } as const;

export function ExportList({ onClose }: { readonly onClose: () => void }) {
  const { query } = usePlace();
  const [format, setFormat] = useState<ExportFormat>('csv');
  const [read, setRead] = useState(0);
  const abort = useRef<AbortController | undefined>(undefined);
  const text = domains.export;
  const run = useAction(async () => {
    const mine = new AbortController();
    abort.current = mine;
    const lines: ReturnType<typeof lineOf>[] = [];
    setRead(0);
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page: Awaited<ReturnType<typeof pageOf<DomainRow>>> = await pageOf(
        api.GET('/domains/', {
          params: { query: { ...domainQuery(query), limit: ROWS_AT_ONCE, ...(cursor && { cursor }) } },
          signal: mine.signal,
        }),
      );
      for (const row of page.items) lines.push(lineOf(row));
      cursor = page.cursor;
      setRead(lines.length);
    }
    download(`domains.${format}`, TYPES[format], exportText(format, [text.head, ...lines]));
  });
  const close = () => {
    abort.current?.abort();
    onClose();
  };
  return (
    <Dialog title={text.title} onClose={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run.run();
        }}
      >
        <p>{isFiltered(query) ? text.filtered : text.all}</p>
        <SelectField
          label={text.format}
          value={format}
          onChange={(event) => setFormat(event.currentTarget.value === 'tsv' ? 'tsv' : 'csv')}
          choices={[
            { value: 'csv', label: text.csv },
            { value: 'tsv', label: text.tsv },
          ]}
        />
        <p role="status">{read > 0 && text.read(read, !run.isBusy)}</p>
        <Failure error={run.error} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={run.isBusy}>
            {text.open}
          </Button>
          <Button onClick={close}>{words.common.close}</Button>
        </div>
      </form>
    </Dialog>
  );
}

function lineOf(row: DomainRow) {
  return [
    row.name,
    row.name_unicode,
    row.status,
    row.dns_mode,
    row.my_role,
    sentenceOf(delegationLine(row)),
    row.updated_at,
    row.created_at,
  ];
}

function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
