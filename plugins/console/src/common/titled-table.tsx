import type { ComponentChildren } from 'preact';

interface TitledTableProps {
  readonly label: string;
  readonly titles: readonly string[];
  /** Those of `titles` whose columns have numbers. */
  readonly numbers?: readonly string[];
  /** For its style. */
  readonly name?: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** A table that scrolls within the page where it is wider. */
export function TitledTable({ label, titles, numbers = [], name, children }: TitledTableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={name}>
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
