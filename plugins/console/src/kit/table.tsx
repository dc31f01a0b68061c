import type { ComponentChildren } from 'preact';

interface TableProps {
  readonly label: string;
  readonly titles: readonly string[];
  /** The members of `titles` whose columns contain numbers. */
  readonly numbers?: readonly string[];
  readonly class?: string;
  /** Whether the label is visible as a caption; otherwise only screen readers read it. */
  readonly hasCaption?: boolean;
  readonly children: ComponentChildren;
}

/** A table that scrolls horizontally if it is wider than the page. */
export function Table({ label, titles, numbers = [], class: className, hasCaption = false, children }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={className}>
        {hasCaption ? <caption>{label}</caption> : null}
        <thead>
          <tr>
            {titles.map((title) => (
              <th scope="col" key={title} class={numbers.includes(title) ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
