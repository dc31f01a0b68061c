import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import './menu.css';

interface MenuProps {
  readonly title: string;
  /** Accessible name of the group of buttons; if absent, `title`. */
  readonly label?: string;
  /** Pressing a button does not close the menu, because the buttons show their result in the menu. */
  readonly staysOpen?: boolean;
  /** Buttons. */
  readonly children: ComponentChildren;
}

/**
 * A menu of rarely used buttons. Escape closes the menu. Unless `staysOpen` is set, it also closes when one of its
 * buttons is pressed or the focus leaves it.
 */
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
