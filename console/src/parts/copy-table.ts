// Copies a table to the clipboard as tab-separated values, and shows a notification.

import { toast } from '../app/toasts.ts';
import { words } from '../words/words.ts';
import { writeToClipboard } from './button.tsx';
import { tsvOf } from './tsv.ts';

type Line = readonly (string | number | undefined)[];

export async function copyTable(head: Line, lines: readonly Line[]): Promise<void> {
  const isDone = await writeToClipboard(tsvOf([head, ...lines]));
  toast(isDone ? words.copy.tableCopied(lines.length) : words.copy.failed, isDone ? 'good' : 'bad');
}
