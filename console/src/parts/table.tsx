// A table with a caption for screen readers, which can be copied as tab-separated values.

import type { ComponentChildren } from 'preact';
import { words } from '../words/words.ts';
import { Button } from './button.tsx';
import { copyTable } from './copy-table.ts';

export interface Column<T> {
  readonly key: string;
  /** Empty for a column of buttons. */
  readonly title: string;
  readonly isNumber?: boolean;
  readonly cell: (row: T) => ComponentChildren;
  /** Text for the copy. Without it, the column is not copied. */
  readonly text?: (row: T) => string | number | undefined;
}

interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string | number;
  readonly canCopy?: boolean;
}

export function Table<T>({ caption, columns, rows, keyOf, canCopy = true }: TableProps<T>) {
  const copied = columns.filter(({ text }) => text !== undefined);
  const copy = () =>
    copyTable(
      copied.map(({ title }) => title),
      rows.map((row) => copied.map(({ text }) => text?.(row))),
    );
  return (
    <div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: allows scrolling by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={caption}>
        <table>
          <caption class="only-read">{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ key, title, isNumber }) =>
                title === '' ? (
                  <td key={key} />
                ) : (
                  <th key={key} scope="col" class={isNumber === true ? 'number' : ''}>
                    {title}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)}>
                {columns.map(({ key, isNumber, cell }) => (
                  <td key={key} class={isNumber === true ? 'number' : ''}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {canCopy && copied.length > 0 && rows.length > 0 && (
        <Button kind="bare" onClick={copy}>
          {words.copy.table}
        </Button>
      )}
    </div>
  );
}
