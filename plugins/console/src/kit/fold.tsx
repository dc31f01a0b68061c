import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface FoldProps {
  readonly title: string;
  readonly class: string;
  /** The fold opens when this becomes true. */
  readonly opens?: boolean;
  /** The content. If it is a function, it is called only while the fold is open. */
  readonly children: ComponentChildren | (() => ComponentChildren);
}

/** A part of the page that the user can open and close. */
export function Fold({ title, class: className, opens = false, children }: FoldProps) {
  const [isOpen, setOpen] = useState(opens);
  useEffect(() => {
    if (opens) setOpen(true);
  }, [opens]);
  return (
    <details class={className} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {typeof children !== 'function' ? children : isOpen ? children() : null}
    </details>
  );
}
