import type { ComponentChildren, JSX, Ref } from 'preact';

interface ButtonProps extends Pick<
  JSX.IntrinsicElements['button'],
  'aria-label' | 'aria-pressed' | 'aria-expanded' | 'tabIndex'
> {
  readonly class?: string;
  readonly title?: string | undefined;
  readonly disabled?: boolean;
  readonly buttonRef?: Ref<HTMLButtonElement>;
  readonly onClick?: ((event: { readonly currentTarget: HTMLButtonElement }) => unknown) | undefined;
  readonly children: ComponentChildren;
}

/** A button of the type `button`, which does not submit a form. */
export function Button({ buttonRef = null, onClick, children, ...more }: ButtonProps) {
  return (
    <button ref={buttonRef} type="button" {...more} onClick={onClick && ((event) => void onClick(event))}>
      {children}
    </button>
  );
}
