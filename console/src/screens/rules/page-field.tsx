// An error page with a preview in a fully sandboxed frame.

import { useState } from 'preact/hooks';
import { TextArea } from '../../parts/field.tsx';
import { rules as text } from '../../words/rules.ts';

interface PageFieldProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly problem: string | undefined;
  readonly value: string;
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void;
}

export function PageField(props: PageFieldProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <TextArea {...props} class="rules-json" spellcheck={false} />
      {props.value.trim() !== '' && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{text.preview}</summary>
          <p class="quiet">{text.previewText}</p>
          {isOpen && <iframe class="rules-preview" sandbox="" srcdoc={props.value} title={text.preview} />}
        </details>
      )}
    </>
  );
}
