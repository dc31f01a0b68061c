import { useEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../texts/frame.ts';
import { copyText } from './copied-text.ts';

const SHOWN_MS = 4000;

/** Copies a text as it is, and says so; where the browser does not allow that, the text is shown to be copied by hand. */
export function CopyButton({ text, label = texts.copy }: { readonly text: string; readonly label?: string }) {
  const [copied, setCopied] = useState(0);
  const [refused, setRefused] = useState<string | undefined>();
  useEffect(() => {
    if (copied === 0) return undefined;
    const timer = setTimeout(() => {
      setCopied(0);
    }, SHOWN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [copied]);
  const copy = async (): Promise<void> => {
    const isDone = await copyText(text);
    setCopied(isDone ? copied + 1 : 0);
    setRefused(isDone ? undefined : text);
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {copied > 0 ? texts.copied : label}
      </button>
      <span role="status" class="visually-hidden">
        {copied > 0 ? texts.copiedAloud : ''}
      </span>
      {refused === undefined ? null : <ByHand text={refused} />}
    </>
  );
}

function ByHand({ text }: { readonly text: string }) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    area.current?.focus();
    area.current?.select();
  }, [text]);
  return (
    <div class="by-hand" role="alert">
      <label>
        {texts.copyByHand}
        <textarea ref={area} readOnly rows={5} value={text} />
      </label>
    </div>
  );
}
