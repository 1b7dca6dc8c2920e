// A modal dialog of the browser, which keeps the focus inside and closes on Escape.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api/api-error.ts';
import { words } from '../words/words.ts';
import { Button } from './button.tsx';
import { Failure } from './failure.tsx';
import { TextField } from './field.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, isWide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // Focuses the first field instead of the close button.
    dialog.current?.querySelector<HTMLElement>('form :is(input, select, textarea):not(:disabled)')?.focus();
    const shown = dialog.current;
    return () => {
      shown?.close(); // while it is open, no element outside can take the focus
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      class={isWide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="row spread">
        <h2 id={id}>{title}</h2>
        <Button kind="bare" aria-label={words.common.close} onClick={onClose}>
          ✕
        </Button>
      </div>
      <div class="stack">{children}</div>
    </dialog>
  );
}

interface FormDialogProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** Text of the button. */
  readonly action: string;
  readonly isDanger?: boolean;
  readonly isShut?: boolean;
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  /** Fields that show their errors themselves. */
  readonly shownFields?: readonly string[];
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}

/** A dialog with a form, whose error is above its buttons. */
export function FormDialog({
  title,
  children,
  action,
  isDanger = false,
  isShut = false,
  ...form
}: FormDialogProps) {
  const { isBusy, error, shownFields, onSubmit, onClose } = form;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isShut) onSubmit();
        }}
      >
        {children}
        <Failure error={error} {...(shownFields !== undefined && { shownFields })} />
        <div class="row">
          <Button type="submit" kind={isDanger ? 'danger' : 'main'} isBusy={isBusy} disabled={isShut}>
            {action}
          </Button>
          <Button onClick={onClose}>{words.common.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ConfirmProps extends Omit<FormDialogProps, 'isShut' | 'shownFields' | 'onSubmit'> {
  /** A text that must be typed first: the name of the item that will be lost. */
  readonly typed?: string;
  readonly onConfirm: () => void;
}

export function Confirm({ children, typed, onConfirm, ...form }: ConfirmProps) {
  const [text, setText] = useState('');
  const isOpen = typed === undefined || text.trim().toLowerCase() === typed.toLowerCase();
  return (
    <FormDialog {...form} isShut={!isOpen} onSubmit={onConfirm}>
      {children}
      {typed !== undefined && (
        <TextField
          label={words.common.typeToConfirm(typed)}
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  );
}
