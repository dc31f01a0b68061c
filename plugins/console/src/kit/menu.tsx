import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

interface MenuProps {
  readonly title: string;
  /** Names the buttons as a group. */
  readonly label?: string;
  /** The buttons report something in the menu, so that a press does not close it. */
  readonly staysOpen?: boolean;
  /** Buttons. */
  readonly children: ComponentChildren;
}

/** Buttons that are needed seldom, below a button that opens them. Escape, and a press of a button, closes it. */
export function Menu({ title, label, staysOpen = false, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (menu.current?.open !== true) return;
    menu.current.open = false;
    menu.current.querySelector('summary')?.focus();
  };
  return (
    <details
      ref={menu}
      class="menu"
      onKeyDown={({ key }) => key === 'Escape' && close()}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        const isElsewhere = relatedTarget instanceof Node && !currentTarget.contains(relatedTarget);
        if (isElsewhere && !staysOpen) currentTarget.open = false;
      }}
    >
      <summary>{title}</summary>
      <div class="menu-items" role="group" aria-label={label ?? title} onClick={staysOpen ? undefined : close}>
        {children}
      </div>
    </details>
  );
}
