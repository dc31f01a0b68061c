import { texts } from '../texts/frame.ts';

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly {
    readonly address: string;
    readonly title: string;
    readonly isOpen: boolean;
    readonly isUnfinished?: boolean;
  }[];
}

/** The tabs of a view, each with its own address. */
export function Tabs({ label, tabs }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ address, title, isOpen, isUnfinished = false }) => (
        <a key={address} href={address} aria-current={isOpen ? 'page' : undefined}>
          {title}
          {isUnfinished ? <span class="dot" aria-hidden="true" title={texts.unsavedHere} /> : null}
        </a>
      ))}
    </nav>
  );
}
