import shop


def test_strangers_have_no_orders():
    assert shop.orders_of(shop.open_shop(), "eve") == []
