// Zone files that are pasted or dropped anywhere on the page of records.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useDraft } from '../../app/drafts.ts';
import { domainPath, usePlace } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { quickAdd as say } from '../../words/quick-add.ts';
import { imports } from '../../words/records.ts';
import { useDomain } from '../domain/domain-here.ts';
import { MOST_BYTES, textOfFile } from './text-of-file.ts';
import { isMoreThanLine, isZoneText } from './zone-text.ts';

/** Elements that take a paste themselves. */
const TAKES_PASTE = 'input:not([type=checkbox]), textarea, select, dialog';

interface ZonePaste {
  /** Opens the import with this text, or reports that it is not a zone file. */
  readonly review: (text: string) => void;
  /** True while a file is dragged over the page. */
  readonly isOver: boolean;
}

/** `onLine` is called with a single pasted line. */
export function useZonePaste(canEdit: boolean, onLine: (line: string) => void): ZonePaste {
  const { name, domain } = useDomain();
  const { go } = usePlace();
  const [, setText] = useDraft(`import ${domain.id}`, '');
  const [isOver, setOver] = useState(false);
  const review = (text: string) => {
    if (text.length > MOST_BYTES) return toast(imports.tooLarge, 'bad');
    if (!isZoneText(text)) return toast(say.notZone, 'bad');
    setText(text);
    go(domainPath(name, 'records/import?from=paste'));
  };
  const latest = useRef({ review, onLine });
  latest.current = { review, onLine };
  useEffect(() => {
    if (!canEdit) return;
    const read = async (file: File) => {
      const text = await textOfFile(file);
      if (text !== undefined) latest.current.review(text);
    };
    const onPaste = (event: ClipboardEvent) => {
      const isTaken = (event.target as Element).closest(TAKES_PASTE) !== null;
      if (isTaken || document.querySelector('dialog[open]') !== null) return;
      const [file] = event.clipboardData?.files ?? [];
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (file === undefined && text.trim() === '') return;
      event.preventDefault();
      if (file !== undefined) void read(file);
      else if (isMoreThanLine(text)) latest.current.review(text);
      else latest.current.onLine(text.trim());
    };
    const onDrag = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      // the pointer left the window if no element is next
      setOver(event.type === 'dragover' || (event.type === 'dragleave' && event.relatedTarget !== null));
      const [file] = event.type === 'drop' ? event.dataTransfer.files : [];
      if (file !== undefined) void read(file);
    };
    const drags = ['dragover', 'dragleave', 'drop'] as const;
    document.addEventListener('paste', onPaste);
    for (const each of drags) document.addEventListener(each, onDrag);
    return () => {
      document.removeEventListener('paste', onPaste);
      for (const each of drags) document.removeEventListener(each, onDrag);
    };
  }, [canEdit]);
  return { review, isOver };
}
