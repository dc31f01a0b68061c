import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../kit/button.tsx';
import { texts } from '../texts/frame.ts';
import { copyText } from './copied-text.ts';

const SHOWN_MS = 4000;

interface CopyButtonProps {
  /** The text, or a function that returns the text and is called when the user presses the button. */
  readonly text: string | (() => string);
  readonly label?: string;
}

/**
 * Copies a text unchanged, and shows that it was copied. If the browser does not allow copying, the text is shown, so
 * that the user can copy it.
 */
export function CopyButton({ text, label = texts.copy }: CopyButtonProps) {
  const [times, setTimes] = useState(0);
  const [refused, setRefused] = useState<string | undefined>();
  useEffect(() => {
    if (times === 0) return undefined;
    const timer = setTimeout(() => {
      setTimes(0);
    }, SHOWN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [times]);
  const copy = async (): Promise<void> => {
    const copied = typeof text === 'string' ? text : text();
    const isDone = await copyText(copied);
    setTimes(isDone ? times + 1 : 0);
    setRefused(isDone ? undefined : copied);
  };
  return (
    <>
      <Button onClick={copy}>{times > 0 ? texts.copied : label}</Button>
      <span role="status" class="visually-hidden">
        {times > 0 ? texts.copiedAloud : ''}
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
