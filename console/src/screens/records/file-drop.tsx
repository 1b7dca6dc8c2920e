// A drop area for a text file, which is also a button to select one.

import { useRef, useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { imports } from '../../words/records.ts';
import { textOfFile } from './text-of-file.ts';

export function FileDrop({ onText }: { readonly onText: (text: string) => void }) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const read = async (file: File | undefined) => {
    const text = file && (await textOfFile(file));
    if (text !== undefined) onText(text);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard
    <div
      class={`rec-drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void read(event.dataTransfer?.files[0]);
      }}
    >
      <p>{imports.drop}</p>
      <input
        ref={input}
        class="only-read"
        type="file"
        tabIndex={-1}
        aria-label={imports.choose}
        onChange={(event) => {
          void read(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
      <Button onClick={() => input.current?.click()}>{imports.choose}</Button>
    </div>
  );
}
