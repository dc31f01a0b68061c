import { useState } from 'preact/hooks';
import { texts } from '../texts/frame.ts';

/** Copies a text as it is. */
export function CopyButton({ text, label = texts.copy }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => {
          setCopied(true);
        });
      }}
    >
      {isCopied ? texts.copied : label}
    </button>
  );
}
