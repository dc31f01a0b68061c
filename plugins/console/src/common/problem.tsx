/** An error that the view cannot go on without telling. */
export function Problem({ text }: { readonly text: string }) {
  if (text === '') return null;
  return (
    <p role="alert" class="problem">
      {text}
    </p>
  );
}
