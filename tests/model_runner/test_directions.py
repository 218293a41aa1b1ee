import torch

from model_runner.collect.directions import random_directions


def test_directions_are_unit_vectors_fixed_by_seed_layer_and_width() -> None:
    drawn = random_directions(0, 64, 5, 1)
    assert torch.allclose(drawn.norm(dim=0), torch.ones(5), atol=1e-6)
    assert torch.equal(drawn, random_directions(0, 64, 5, 1))
    assert torch.equal(drawn[:, :2], random_directions(0, 64, 2, 1))
    for other in (random_directions(1, 64, 5, 1), random_directions(0, 64, 5, 2)):
        assert not torch.allclose(drawn, other, atol=0.1)
