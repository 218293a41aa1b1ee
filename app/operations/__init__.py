"""What whoever runs the server looks at: is it alive and ready, and how much is asked of it. Nothing knows an arm."""
