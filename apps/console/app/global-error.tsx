"use client";

/** Where even the frame around all pages broke there is no style sheet to count on. */
export default function GlobalError({ reset }: { error: Error; reset: () => void }) {
  return (
    <html lang="en">
      <body>
        <main>
          <h1>The console broke</h1>
          <p>Nothing that was stored is affected: this is the page alone.</p>
          <button type="button" onClick={reset}>
            Try again
          </button>
        </main>
      </body>
    </html>
  );
}
